/** Chooses the usage format of a call where a provider serves several formats, such as Vertex AI. */

import { type CallPattern, matchesCall, parseCallPattern } from '@acg/base/policy/call-pattern';
import { splitPathStrictly } from '@acg/base/policy/split-path-strictly-or-leniently';
import type { Upstream, UsageFormat } from '../context/agent-context.js';

interface UsageVariant {
  /** Empty: every call. */
  readonly patterns: readonly CallPattern[];
  readonly upstream: Upstream;
}

interface UsageVariants {
  readonly rules: readonly UsageVariant[];
  readonly unmetered: Upstream;
}

const variantsByUpstream = new WeakMap<Upstream, UsageVariants>();

/** The upstream with the usage format of this call. `upstream.usageRules` must not be null. */
export function selectUsageVariant(upstream: Upstream, method: string, providerPath: string): Upstream {
  let variants = variantsByUpstream.get(upstream);
  if (variants === undefined) {
    variants = createVariants(upstream);
    variantsByUpstream.set(upstream, variants);
  }
  const segments = splitPathStrictly(providerPath);
  const matches = ({ patterns }: UsageVariant): boolean =>
    patterns.length === 0 || patterns.some((pattern) => matchesCall(pattern, method, segments));
  return variants.rules.find(matches)?.upstream ?? variants.unmetered;
}

function createVariants(upstream: Upstream): UsageVariants {
  const byFormat = new Map<UsageFormat, Upstream>();
  const withFormat = (usageFormat: UsageFormat): Upstream => {
    let variant = byFormat.get(usageFormat);
    if (variant === undefined) {
      variant = Object.freeze({ ...upstream, usageFormat });
      byFormat.set(usageFormat, variant);
    }
    return variant;
  };
  return {
    rules: upstream.usageRules!.map(({ calls, format }) => ({
      patterns: calls.map(compilePattern),
      upstream: withFormat(format),
    })),
    unmetered: withFormat('none'),
  };
}

function compilePattern(call: string): CallPattern {
  const pattern = parseCallPattern(call, splitPathStrictly);
  if (pattern === null) throw new Error('invalid call pattern in the usage of a provider');
  return pattern;
}
