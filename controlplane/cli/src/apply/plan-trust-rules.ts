/**
 * Changes of trust rules. A rule is identified by its name. Its agent and its issuer cannot be changed, because workloads
 * are configured with its id and its audience: the plan stops there.
 */
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import { type Fields, TRUST_RULE_FIELDS, type TrustRuleSpec } from './config-document.js';
import type { OrgState, TrustRuleState } from './org-state.js';

interface Condition {
  readonly claim: string;
  readonly values: readonly string[];
}

/** The order of conditions and of their values has no meaning. What is no list of conditions is left to the API. */
function toComparable(fields: Fields): Fields {
  const { conditions } = fields;
  const isList =
    Array.isArray(conditions) && conditions.every((one) => Array.isArray((one as Condition | null)?.values));
  if (!isList) return fields;
  const sorted = (conditions as readonly Condition[])
    .map(({ claim, values }) => JSON.stringify([claim, [...values].sort()]))
    .sort();
  return { ...fields, conditions: JSON.stringify(sorted) };
}

/** The fields that differ from the present rule. */
export function findTrustRuleChanges(spec: TrustRuleSpec, rule: TrustRuleState, state: OrgState): Fields {
  const agent = state.projects.find(({ name }) => name === spec.project)?.agents.find(({ id }) => id === rule.agentId);
  if (agent?.name !== spec.agent || rule.issuer !== spec.issuer)
    throw new CliError(
      EXIT_CODES.conflict,
      `trust rule ${spec.name}: its ${rule.issuer === spec.issuer ? 'agent' : 'issuer'} cannot be changed`,
      { hint: 'give the new rule another name, and delete the former one with --prune when no workload uses it' },
    );
  const [wanted, own] = [toComparable(spec), toComparable(rule.fields)];
  return Object.fromEntries(
    TRUST_RULE_FIELDS.flatMap((field) =>
      spec[field] === undefined || wanted[field] === own[field] ? [] : [[field, spec[field]]],
    ),
  );
}
