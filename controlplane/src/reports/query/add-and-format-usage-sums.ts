/** Sums of usage, and their format in responses. Pure. */
import { averageMs, centsFromNanos, usdFromNanos } from './money-and-forecast.js';

export interface UsageSums {
  readonly requests: number;
  readonly errors: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costNanos: bigint;
  readonly durationMsSum: number;
}

export const ZERO_SUMS: UsageSums = {
  requests: 0,
  errors: 0,
  tokensIn: 0,
  tokensOut: 0,
  costNanos: 0n,
  durationMsSum: 0,
};

export const addSums = (a: UsageSums, b: UsageSums): UsageSums => ({
  requests: a.requests + b.requests,
  errors: a.errors + b.errors,
  tokensIn: a.tokensIn + b.tokensIn,
  tokensOut: a.tokensOut + b.tokensOut,
  costNanos: a.costNanos + b.costNanos,
  durationMsSum: a.durationMsSum + b.durationMsSum,
});

export const presentSums = ({ requests, errors, tokensIn, tokensOut, costNanos, durationMsSum }: UsageSums) => ({
  requests,
  errors,
  tokensIn,
  tokensOut,
  costCents: centsFromNanos(costNanos),
  costUsd: usdFromNanos(costNanos),
  avgLatency: averageMs(durationMsSum, requests),
});
