/** Rules of the methods of a provider definition that its schema cannot state. Pure. */
import { checkInjection } from './check-injection.js';
import { listTemplateFields } from './credential-template.js';
import { listInjectionTemplates, type Problem, type Report } from './definition-problem.js';
import {
  isSignedByGateway,
  listInjectedFields,
  listMethodFields,
  listTemplateFieldsOf,
  METHOD_MEMBER,
  splitEndpoint,
} from './mint-method.js';
import { MINTED_FIELDS, type MintMethod } from './mint-method-schema.js';
import type { CredentialField, ProviderRules } from './provider-definition.js';
import { isReservedHeader } from './reserved-headers.js';

type Rules = Pick<ProviderRules, 'credentials'>;

/** A registered name below which the vendor alone creates hosts, or a whole host without fields. */
const FIXED_HOST_END = /^[a-z0-9-]*(?:\.[a-z0-9-]+){2,}(?::\d{1,5})?$/;

export function checkMethods(rules: Rules): Problem[] {
  const problems: Problem[] = [];
  const report: Report = (pointer, message) => problems.push({ pointer, message });
  const { fields, methods = [] } = rules.credentials;
  if (fields.some(({ name }) => name === METHOD_MEMBER))
    report('/credentials/fields', 'a field cannot be called method');
  methods.forEach((method, i) => {
    const place = `/credentials/methods/${i}`;
    if (methods.findIndex(({ name }) => name === method.name) !== i)
      report(`${place}/name`, `is used twice: ${method.name}`);
    checkMethodFields(rules, method, place, report);
    checkToken(rules, method, place, report);
    checkInject(rules, method, place, report);
  });
  return problems;
}

function checkMethodFields(rules: Rules, method: MintMethod, place: string, report: Report): void {
  const names = listMethodFields(rules, method).map(({ name }) => name);
  const reserved = [METHOD_MEMBER, ...MINTED_FIELDS[method.kind]];
  names.forEach((name, i) => {
    if (names.indexOf(name) !== i) report(`${place}/fields`, `${name} is used twice`);
    if (reserved.includes(name)) report(`${place}/fields`, `a field cannot be called ${name}`);
  });
  for (const name of method.uses ?? []) {
    if (!rules.credentials.fields.some((field) => field.name === name))
      report(`${place}/uses`, `names the unknown field ${name}`);
  }
  method.fields.forEach(({ secret, pattern, values, looksLike, kind }, i) => {
    if (pattern !== undefined && !/^\^.*\$$/s.test(pattern))
      report(`${place}/fields/${i}`, 'pattern must begin with ^ and end in $');
    if (pattern !== undefined && looksLike === undefined) report(`${place}/fields/${i}`, 'a pattern needs looksLike');
    if (values !== undefined && (secret || pattern !== undefined))
      report(`${place}/fields/${i}/values`, 'goes neither with secret nor with pattern');
    if (kind === 'private_key' && !secret) report(`${place}/fields/${i}/secret`, 'must be true for a private key');
  });
}

type TokenMember = keyof MintMethod['token'];

/** Members without which an exchange of the kind is impossible; client authentication comes on top. */
const NEEDED: Readonly<Record<MintMethod['kind'], readonly TokenMember[]>> = {
  oauth2_client_credentials: [],
  oauth2_authorization_code: ['authorizationUrl'],
  jwt_bearer: ['clientId', 'privateKey'],
  aws_assume_role: ['clientId', 'clientSecret', 'role', 'region'],
  entra: ['scope'],
  token_exchange: [],
};
/** The same where a token of the gateway takes the place of the secret. */
const NEEDED_WITHOUT_SECRET: typeof NEEDED = {
  oauth2_client_credentials: ['clientId'],
  oauth2_authorization_code: [],
  jwt_bearer: [],
  aws_assume_role: ['role'],
  entra: ['clientId', 'scope'],
  token_exchange: [],
};
const AUTHENTICATION = {
  basic: ['clientId', 'clientSecret'],
  post: ['clientId', 'clientSecret'],
  private_key_jwt: ['clientId', 'privateKey'],
  none: ['clientId'],
} as const;

/** What the gateway sets itself in a request to a token endpoint. */
const TOKEN_REQUEST_HEADERS: readonly string[] = ['accept', 'authorization', 'user-agent'];

function checkToken(rules: Rules, method: MintMethod, place: string, report: Report): void {
  const fields = new Map(listTemplateFieldsOf(rules, method).map((field) => [field.name, field]));
  const { parameters = {}, authorizationParameters = {}, clientAuthentication = 'basic', ...others } = method.token;
  const texts = Object.values(others).filter((one) => typeof one === 'string');
  const templates = [...texts, ...Object.values(parameters), ...Object.values(authorizationParameters)];
  for (const name of new Set(templates.flatMap(listTemplateFields))) {
    if (!fields.has(name)) report(`${place}/token`, `names the unknown field ${name}`);
  }
  for (const member of ['url', 'authorizationUrl', 'revocationUrl'] as const) {
    const url = method.token[member];
    if (url !== undefined) checkEndpoint(fields, url, `${place}/token/${member}`, report);
  }
  for (const header of Object.keys(method.token.headers ?? {})) {
    if (isReservedHeader(header) || TOKEN_REQUEST_HEADERS.includes(header))
      report(`${place}/token/headers`, `cannot set ${header}`);
  }
  if (method.token.headers !== undefined && method.kind === 'aws_assume_role')
    report(`${place}/token/headers`, 'does not go with aws_assume_role');
  if (method.token.discover !== undefined) {
    checkDiscovery(method, place, report);
    return;
  }
  const isSigned = isSignedByGateway(method);
  if (isSigned && method.kind === 'oauth2_authorization_code')
    report(`${place}/token/signedBy`, 'does not go with oauth2_authorization_code');
  if (method.token.impersonate !== undefined && method.kind !== 'token_exchange')
    report(`${place}/token/impersonate`, 'goes with token_exchange only');
  const authenticates = !isSigned && method.kind !== 'jwt_bearer' && method.kind !== 'aws_assume_role';
  if (method.token.url === undefined) report(`${place}/token`, 'needs url');
  const needed = isSigned
    ? NEEDED_WITHOUT_SECRET[method.kind]
    : [...NEEDED[method.kind], ...(authenticates ? AUTHENTICATION[clientAuthentication] : [])];
  for (const member of needed) {
    if (method.token[member] === undefined) report(`${place}/token`, `needs ${member}`);
  }
}

/** Members that the metadata of the server states, or that do not go with an authorization code. */
const DISCOVERED = [
  'url',
  'authorizationUrl',
  'revocationUrl',
  'issuer',
  'clientAuthentication',
  'privateKey',
  'signedBy',
  'body',
] as const satisfies readonly TokenMember[];

function checkDiscovery({ kind, token }: MintMethod, place: string, report: Report): void {
  if (kind !== 'oauth2_authorization_code')
    report(`${place}/token/discover`, 'goes with oauth2_authorization_code only');
  for (const member of DISCOVERED)
    if (token[member] !== undefined) report(`${place}/token/${member}`, 'does not go with discover');
  if (token.clientSecret !== undefined && token.clientId === undefined) report(`${place}/token`, 'needs clientId');
}

function checkEndpoint(
  fields: ReadonlyMap<string, CredentialField>,
  url: string,
  pointer: string,
  report: Report,
): void {
  if (url.startsWith('{')) {
    if (fields.get(url.slice(1, -1))?.kind !== 'url') report(pointer, 'must be a field of kind url');
    return;
  }
  for (const name of listTemplateFields(url)) if (fields.get(name)?.secret) report(pointer, `holds the secret ${name}`);
  const { host } = splitEndpoint(url);
  if (host.includes('{') && !FIXED_HOST_END.test(host.slice(host.lastIndexOf('}') + 1)))
    report(pointer, 'must end in a fixed domain of the vendor, such as .example.com');
  if (!URL.canParse(url.replaceAll(/\{[a-zA-Z0-9]+\}/g, 'x'))) report(pointer, 'is not a URL');
}

function checkInject(rules: Rules, method: MintMethod, place: string, report: Report): void {
  const own = new Set(
    listTemplateFieldsOf(rules, method).flatMap(({ name, secret }) =>
      secret && !method.uses?.includes(name) ? name : [],
    ),
  );
  const fields = new Map(listInjectedFields(rules, method).map((field) => [field.name, field]));
  method.inject.forEach((rule, i) => {
    const pointer = `${place}/inject/${i}`;
    if (!checkInjection(method.inject, i, pointer, report)) return;
    if (rule.path !== undefined) report(pointer, 'a minted credential cannot be in the path');
    for (const name of listInjectionTemplates(rule).flatMap(listTemplateFields)) {
      if (!fields.has(name)) report(pointer, `names the unknown field ${name}`);
      if (own.has(name)) report(pointer, `sends ${name} to the provider, which only the token endpoint may see`);
    }
  });
}
