/**
 * Every built-in provider is in every list of providers, or the list states why not. `npm run openapi`
 * generates the lists of the documents, apart from the table of SDKs in README.md.
 */
import { readFileSync } from 'node:fs';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { describe, expect, test } from 'vitest';
import {
  BUILT_IN_PROVIDERS,
  listSecretVariables,
  planProviderVariables,
} from '../../controlplane/cli/src/run/provider-variables.js';
import { codeSnippetsFor } from '../../controlplane/dashboard/src/components/secrets/code-snippets.js';
import { providerLabel } from '../../controlplane/dashboard/src/messages/built-in-provider-names.js';
import { expectGeneratedParts } from './fixtures/expect-generated-doc-parts.js';

/** By slug, why its SDK reads no variables. */
const WITHOUT_VARIABLES: Readonly<Record<string, string>> = {};
/** By slug, why a setup can show no code for it. */
const WITHOUT_CODE: Readonly<Record<string, string>> = {};

const VARIABLES = 'controlplane/cli/src/run/provider-variables.ts';
const LABELS = 'controlplane/dashboard/src/messages/built-in-provider-names.ts';
const SNIPPETS = 'controlplane/dashboard/src/components/secrets/code-snippets.ts';

const gatewayUrl = 'https://gw.example';
const { providers } = new Catalogue();

describe.each(providers)('$slug', ({ slug, displayName }) => {
  test.skipIf(slug in WITHOUT_VARIABLES)(
    'acg run hands the token to its SDK, and keeps its own key from the child',
    () => {
      const { set } = planProviderVariables([slug], { gatewayUrl, token: 'acg_token', env: {} });
      const withToken = Object.keys(set).filter((name) => !name.startsWith('ACG_') && set[name] === 'acg_token');
      expect(withToken.length, `${VARIABLES}: ${slug} sets no variable to the token`).toBeGreaterThan(0);
      const kept = withToken.filter((name) => !listSecretVariables().includes(name));
      expect(kept, `${VARIABLES}: ${slug} sets these, and they are not among its secrets`).toEqual([]);
    },
  );

  test.skipIf(slug in WITHOUT_CODE)('the dashboard shows code that configures its SDK', () => {
    const snippets = codeSnippetsFor({ providerSlug: slug, gatewayUrl, token: 'acg_token' });
    const code = snippets.find(({ id }) => id === 'typescript')?.code ?? '';
    expect(code, `${SNIPPETS}: ${slug} has no TypeScript with the address`).toContain(`${gatewayUrl}/v1/proxy/${slug}`);
    expect(code, `${SNIPPETS}: ${slug} has no TypeScript with the token`).toContain('acg_token');
    const prompt = snippets.find(({ id }) => id === 'prompt')!.code;
    const [, baseUrl] = /^- Base URL of the SDK: (.*)$/m.exec(prompt)!;
    expect(code, `${SNIPPETS}: basePath of ${slug} is not what its TypeScript has`).toContain(`'${baseUrl}'`);
  });

  test('the dashboard writes its name as its catalogue entry does', () => {
    expect(providerLabel(slug), `${LABELS}: the label of ${slug}`).toBe(displayName);
  });

  test('README.md has a row for its SDK', () => {
    const row = new RegExp(`^\\|.*'/v1/proxy/${slug}[/']`, 'm');
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    expect(row.test(readme), `README.md: the table of SDKs has no row with '/v1/proxy/${slug}'`).toBe(true);
  });
});

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
/** An empty cell is one space. */
const tableRow = (...cells: string[]): string => `${cells.map((cell) => `| ${cell}`.trimEnd()).join(' ')} |\n`;

test('README.md lists the fields of each credential', async () => {
  const rows = providers.map(({ slug, credentialFields }) => {
    const namesWhere = (required: boolean) =>
      code(credentialFields.filter((field) => field.required === required).map(({ name }) => name));
    return tableRow(slug, namesWhere(true), namesWhere(false));
  });
  await expectGeneratedParts('README.md', [
    [/(?<=^\| account of \|.*\n\|---\|---\|---\|\n).*?(?=^\| custom )/ms, rows.join('')],
  ]);
});

test('docs/cli.md lists the variables of each provider', async () => {
  const rows = providers.map(({ slug }) => {
    const { set, secrets, remove = [], remark } = BUILT_IN_PROVIDERS[slug] ?? { set: () => ({}), secrets: [] };
    const names = Object.keys(set({ url: '', token: '', env: {} }));
    const removed = [...secrets, ...remove].filter((name) => !names.includes(name));
    return tableRow(slug, code(names), code(removed), remark?.slice(`${slug}: `.length) ?? '');
  });
  await expectGeneratedParts('docs/cli.md', [
    [/(?<=^\| provider \| set \|.*\n\|---\|---\|---\|---\|\n).*?(?=^\| custom \|)/ms, rows.join('')],
  ]);
});

test('docs/contract.md lists the providers', async () => {
  const list = code(providers.map(({ slug }) => slug));
  await expectGeneratedParts('docs/contract.md', [
    [/^Built-in providers are `.*$/m, `Built-in providers are ${list}.`],
  ]);
});
