/** Sums of calls, and how answers show them. Pure. */
import { average, centsOf, usdOf } from './figures.js';

export interface Sums {
  readonly requests: number;
  readonly errors: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costNanos: bigint;
  readonly durationMsSum: number;
}

export const NOTHING: Sums = {
  requests: 0,
  errors: 0,
  tokensIn: 0,
  tokensOut: 0,
  costNanos: 0n,
  durationMsSum: 0,
};

export const added = (a: Sums, b: Sums): Sums => ({
  requests: a.requests + b.requests,
  errors: a.errors + b.errors,
  tokensIn: a.tokensIn + b.tokensIn,
  tokensOut: a.tokensOut + b.tokensOut,
  costNanos: a.costNanos + b.costNanos,
  durationMsSum: a.durationMsSum + b.durationMsSum,
});

export const shown = ({ requests, errors, tokensIn, tokensOut, costNanos, durationMsSum }: Sums) => ({
  requests,
  errors,
  tokensIn,
  tokensOut,
  costCents: centsOf(costNanos),
  costUsd: usdOf(costNanos),
  avgLatency: average(durationMsSum, requests),
});
