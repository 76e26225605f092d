/** How a provider's rules put the credentials of one account into a request. Pure. */
import type { IInjection } from '@acg/proto/messages';

import {
  type Credentials,
  encodePathSegment,
  fieldValue,
  listTemplateFields,
  renderTemplate,
  splitTemplatePrefix,
} from './credential-template.js';
import { listInjectionTemplates } from './definition-problem.js';
import type { InjectionRule, ProviderRules } from './provider-definition.js';

/** The credential of an account, as it is sent. */
export interface RenderedInjection {
  readonly injection: IInjection;
  /** Beginning of every path, percent-encoded; `''` for none. */
  readonly path: string;
}

/** The first rule that applies is the credential; the others are settings of the account. */
export function renderInjection(
  {
    inject,
    drop = [],
    credentials: { fields },
  }: Pick<ProviderRules, 'inject' | 'credentials'> & {
    readonly drop?: ProviderRules['drop'] | undefined;
  },
  credentials: Credentials,
  origin: string,
): RenderedInjection {
  const rules = inject.filter(
    (rule) => (rule.origin === undefined || rule.origin === origin) && applies(rule, credentials),
  );
  const pathRule = rules.find(({ path }) => path !== undefined);
  const [main, ...others] = rules.filter((rule) => rule !== pathRule && !rule.append);
  const injection: IInjection = main === undefined ? { none: {} } : renderCredential(main, credentials);
  const headers = others.filter(({ query }) => query === undefined);
  injection.extraHeaders = headers.map((rule) => renderHeader(rule, credentials));
  injection.appendHeaders = rules.flatMap(({ append, header, value }) =>
    append ? { name: header!, value: value! } : [],
  );
  injection.extraQuery = others.flatMap(({ query, value }) =>
    query === undefined ? [] : { name: query, value: render(value!, credentials) },
  );
  const dropped = drop.filter(({ with: field }) => field === undefined || fieldValue(credentials, field) !== undefined);
  injection.dropHeaders = dropped.flatMap(({ header }) => header ?? []);
  injection.dropQuery = dropped.flatMap(({ query }) => query ?? []);
  const mainSecret = injection.header?.secret ?? injection.query?.secret ?? injection.basic?.password;
  const sent = new Set(rules.filter(({ sigv4 }) => sigv4 === undefined).flatMap(listSentFields));
  const secrets = fields
    .filter(({ name, secret }) => secret && sent.has(name) && credentials[name] !== mainSecret)
    .map(({ name }) => credentials[name]!);
  // A response may echo the Base64 form as well.
  secrets.push(...headers.filter(({ basic }) => basic).map((rule) => renderHeader(rule, credentials).value.slice(6)));
  if (pathRule === undefined) {
    injection.secrets = secrets;
    return { injection, path: '' };
  }
  const [prefix, rest] = splitTemplatePrefix(pathRule.path!);
  const inPath = encodePathSegment(render(rest, credentials));
  injection.pathPrefix = prefix;
  injection.secrets = [...new Set([...secrets, inPath])];
  return { injection, path: prefix + inPath };
}

const listSentFields = (rule: InjectionRule): string[] => listInjectionTemplates(rule).flatMap(listTemplateFields);

/** Every field of the rule is given. A session token is optional. */
function applies(rule: InjectionRule, credentials: Credentials): boolean {
  const optional = rule.sigv4?.sessionToken;
  return listInjectionTemplates(rule).every(
    (template) => template === optional || renderTemplate(template, credentials) !== null,
  );
}

const render = (template: string, credentials: Credentials): string => renderTemplate(template, credentials)!;

function renderCredential(rule: InjectionRule, credentials: Credentials): IInjection {
  const { query, value, basic, sigv4 } = rule;
  if (query !== undefined) return { query: { name: query, secret: render(value!, credentials) } };
  if (basic !== undefined) {
    return {
      basic: { username: render(basic.username, credentials), password: render(basic.password, credentials) },
    };
  }
  if (sigv4 !== undefined) {
    return {
      sigv4: {
        accessKeyId: render(sigv4.accessKeyId, credentials),
        secretAccessKey: render(sigv4.secretAccessKey, credentials),
        sessionToken: (sigv4.sessionToken && renderTemplate(sigv4.sessionToken, credentials)) || '',
        region: render(sigv4.region, credentials),
        service: sigv4.service,
      },
    };
  }
  const [prefix, rest] = splitTemplatePrefix(value!);
  return {
    header: {
      name: rule.header!,
      prefix: (rule.prefix ?? '') + prefix,
      secret: render(rest, credentials),
      alternatives: (rule.alternatives ?? []).map((other) => ({
        name: other.header,
        prefix: splitTemplatePrefix(other.value)[0],
      })),
      alsoBearerUnlessUserJwt: rule.alsoBearerUnlessUserJwt ?? false,
    },
  };
}

function renderHeader({ header, value, basic }: InjectionRule, credentials: Credentials) {
  if (basic === undefined) return { name: header!, value: render(value!, credentials) };
  const pair = `${render(basic.username, credentials)}:${render(basic.password, credentials)}`;
  return { name: 'authorization', value: `Basic ${Buffer.from(pair).toString('base64')}` };
}
