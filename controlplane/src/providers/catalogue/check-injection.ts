/** Rules of one injection that its schema cannot state, for providers and their methods. Pure. */
import { listTemplateFields, splitTemplatePrefix } from './credential-template.js';
import type { Report } from './definition-problem.js';
import type { InjectionRule } from './provider-definition.js';
import { isReservedHeader } from './reserved-headers.js';

const INJECTION_KINDS = ['header', 'query', 'path', 'basic', 'sigv4'] as const;
/** A member of a list without quotes, commas or spaces (RFC 9110 §5.6.2, and the characters of URLs). */
const LIST_MEMBER = /^[A-Za-z0-9!#$%&'*+.^_`|~:/?@=-]{1,200}$/;
/** Headers that hold a credential are no lists. The data plane drops them from every request of a client. */
const CREDENTIAL_HEADERS: readonly string[] = ['authorization', 'x-api-key', 'api-key', 'apikey', 'x-goog-api-key'];

/** False: the rule has no kind, so nothing else can be said of it. */
export function checkInjection(rules: readonly InjectionRule[], i: number, place: string, report: Report): boolean {
  const rule = rules[i]!;
  const kinds = INJECTION_KINDS.filter((kind) => rule[kind] !== undefined);
  if (kinds.length !== 1) {
    report(place, `must have exactly one of ${INJECTION_KINDS.join(', ')}`);
    return false;
  }
  const kind = kinds[0]!;
  const hasValue = kind === 'header' || kind === 'query';
  if ((rule.value !== undefined) !== hasValue)
    report(place, hasValue ? 'needs value' : `value does not go with ${kind}`);
  if (kind !== 'header' && (rule.alternatives ?? rule.alsoBearerUnlessUserJwt ?? rule.append) !== undefined)
    report(place, 'alternatives, alsoBearerUnlessUserJwt and append go with header only');
  if (
    kind === 'sigv4' &&
    (i !== 0 || rules.some((other, at) => at !== i && other.path === undefined && other.header === undefined))
  )
    report(place, 'sigv4 must be the first rule, and further ones headers');
  for (const header of listHeaders(rule)) {
    if (isReservedHeader(header)) report(place, `cannot inject into ${header}`);
  }
  for (const { value } of rule.alternatives ?? []) {
    if (splitTemplatePrefix(value)[1] !== splitTemplatePrefix(rule.value ?? '')[1])
      report(`${place}/alternatives`, 'may differ from value before the first field only');
  }
  if (rule.append) checkAppend(rules, i, place, report);
  return true;
}

function checkAppend(rules: readonly InjectionRule[], i: number, place: string, report: Report): void {
  const { header = '', value = '', alternatives, alsoBearerUnlessUserJwt } = rules[i]!;
  if (listTemplateFields(value).length > 0) report(`${place}/value`, 'cannot hold fields with append');
  else if (!LIST_MEMBER.test(value)) report(`${place}/value`, 'must be one member of a list, without commas or spaces');
  if ((alternatives ?? alsoBearerUnlessUserJwt) !== undefined)
    report(place, 'alternatives and alsoBearerUnlessUserJwt do not go with append');
  if (CREDENTIAL_HEADERS.includes(header)) report(place, `cannot append to ${header}`);
  if (rules.some((other) => !other.append && listHeaders(other).includes(header)))
    report(place, `another rule sets ${header}`);
}

const listHeaders = ({ header, alternatives = [] }: InjectionRule): string[] => [
  ...(header === undefined ? [] : [header]),
  ...alternatives.map((other) => other.header),
];
