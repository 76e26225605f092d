/**
 * No template of a provider file reaches another host than the vendor's, whatever an account says. `test:deep` runs it
 * with more than 100 000 random values.
 */
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { parseCredentials } from '@acg/controlplane/providers/catalogue/parse-credentials';
import type { Provider } from '@acg/controlplane/providers/catalogue/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';

type Credentials = Readonly<Record<string, string>>;

const { providers } = new Catalogue();

/** Address templates by origin, each with the values of its enumerations: the fixed text that a host must have. */
function templatesOf({ file }: Provider, origin: string): string[] {
  const rule = file!.origins[origin]!;
  const enumerated = file!.credentials.fields.filter(({ values }) => values !== undefined);
  return (typeof rule === 'string' ? [rule] : rule.map(({ url }) => url)).flatMap((template) =>
    enumerated.reduce<string[]>(
      (all, { name, values }) => all.flatMap((one) => values!.map((value) => one.replaceAll(`{${name}}`, value))),
      [template],
    ),
  );
}

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether the address is the template with one part of a label for each field. */
const isOfTemplate = (address: string, template: string): boolean =>
  new RegExp(
    `^${template
      .split(/\{\w+\}/)
      .map(escapeRegExp)
      .join('[a-z0-9-]{1,63}')}$`,
  ).test(address);

const PIECES = [
  ...[
    'evil.com',
    'a.evil.com',
    '.evil.com',
    '@evil.com',
    '/evil.com',
    '\\evil.com',
    '#',
    '?',
    '/',
    ':80',
    '%2e',
    '%2f',
  ],
  ...[
    '..',
    '.',
    '-',
    'xn--',
    '[::1]',
    '127.0.0.1',
    '0x7f000001',
    '\n',
    '\r\nHost: evil.com',
    '\0',
    '\t',
    ' ',
    '{apiKey}',
  ],
  ...[
    'ａ',
    '。',
    '․',
    'é',
    'ß',
    'A',
    'a',
    '0',
    'eu-west-1',
    'us1',
    '$',
    '`',
    '|',
    ';',
    ',',
    'a'.repeat(64),
    '__proto__',
  ],
];
const hostileText = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 5 })), {
  maxLength: 4,
});

/** Random values of all fields; sometimes one that is allowed, so that the other fields matter. */
function arbitraryCredentials({ file }: Provider): fc.Arbitrary<Credentials> {
  const valid = file!.tests.credentials;
  return fc.record<Record<string, string>>(
    Object.fromEntries(
      file!.credentials.fields.map(({ name, values = [] }) => {
        const hostile = hostileText.map((pieces) => pieces.join(''));
        return [name, fc.oneof(hostile, fc.constantFrom(valid[name] ?? 'a', ...values))];
      }),
    ),
    { requiredKeys: [] },
  );
}

test.each(providers.map((provider) => [provider.slug, provider] as const))(
  '%s: no credentials reach another host',
  (_slug, provider) => {
    const wholeAddress = new Set(
      provider.file!.credentials.fields.filter(({ kind }) => kind === 'url').map(({ name }) => `{${name}}`),
    );
    const check = (credentials: Credentials): void => {
      for (const origin of provider.originNames) {
        const address = provider.address(credentials, origin);
        if (address === null) continue;
        const templates = templatesOf(provider, origin);
        const isTenants = templates.some(
          (one) => wholeAddress.has(one) && address.baseUrl === credentials[one.slice(1, -1)],
        );
        if (isTenants) expect(address.tenantGiven, 'egress rules apply').toBe(true);
        else
          expect(
            templates.some((template) => isOfTemplate(address.baseUrl, template)),
            address.baseUrl,
          ).toBe(true);
      }
    };
    fc.assert(
      fc.property(arbitraryCredentials(provider), (credentials) => {
        check(credentials);
        let parsed: Credentials;
        try {
          parsed = parseCredentials(provider.rules, credentials);
        } catch {
          return;
        }
        check(parsed);
      }),
    );
  },
);
