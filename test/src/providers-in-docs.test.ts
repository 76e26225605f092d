/**
 * Every built-in provider is in every list that is generated from the provider files: the variables of `acg run`, and
 * the tables of the documents. `npm run openapi` writes them.
 */
import { fileURLToPath } from 'node:url';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import type { Provider } from '@acg/controlplane/providers/catalogue/provider';
import { CATEGORIES, type Category } from '@acg/controlplane/providers/catalogue/provider-definition';
import { presentSdk } from '@acg/controlplane/providers/custom/present-provider';
import { describe, expect, test } from 'vitest';
import {
  knownVariablesOf,
  listSecretVariables,
  planProviderVariables,
} from '../../controlplane/cli/src/run/provider-variables.js';
import { expectGeneratedParts } from './fixtures/expect-generated-doc-parts.js';

const gatewayUrl = 'https://gw.example';
const { providers } = new Catalogue();

const sdkOf = ({ file }: Provider) => presentSdk(file!.sdk);

test('acg run knows the variables of every provider', async () => {
  const variables = providers.map((provider) => {
    const { env, secretEnv, removeEnv, remark } = sdkOf(provider);
    return [provider.slug, { env, secretEnv, removeEnv, remark }];
  });
  await expect(`${JSON.stringify(Object.fromEntries(variables), null, 2)}\n`).toMatchFileSnapshot(
    fileURLToPath(new URL('../../controlplane/cli/src/run/built-in-provider-variables.json', import.meta.url)),
  );
});

test('the dashboard writes the names of providers as their files do', async () => {
  const names = Object.fromEntries(providers.map(({ slug, displayName }) => [slug, displayName]));
  await expect(`${JSON.stringify(names, null, 2)}\n`).toMatchFileSnapshot(
    fileURLToPath(new URL('../../controlplane/dashboard/src/messages/provider-names.json', import.meta.url)),
  );
});

describe.each(providers)('$slug', (provider) => {
  const { slug } = provider;
  const { basePath, snippets } = sdkOf(provider);

  test('acg run keeps the provider’s own key from the child', () => {
    const variables = knownVariablesOf(slug);
    const { set } = planProviderVariables([{ slug, variables }], { gatewayUrl, token: 'acg_token', env: {} });
    const withToken = Object.keys(set).filter((name) => !name.startsWith('ACG_') && set[name] === 'acg_token');
    const kept = withToken.filter((name) => !listSecretVariables().includes(name));
    expect(kept, `${slug}: env sets these to the token, and secretEnv does not list them`).toEqual([]);
  });

  test('its code has the address and the token', () => {
    expect(snippets.map(({ id }) => id)).toEqual(expect.arrayContaining(['curl', 'python', 'typescript']));
    for (const { id, code } of snippets) {
      expect(code, `${slug}: ${id} has no {url}`).toContain('{url}');
      expect(code, `${slug}: ${id} has no {token}`).toContain('{token}');
    }
    const sdkCode = snippets.map(({ code }) => code).join();
    expect(sdkCode, `${slug}: no snippet has {url} with basePath`).toContain(`{url}${basePath}`);
  });
});

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
/** Lines of at most 126 characters, like the documents. */
const wrap = (text: string): string => text.replaceAll(/(.{1,126})(?: |$)/g, '$1\n').trimEnd();
/** An empty cell is one space. */
const tableRow = (...cells: string[]): string => `${cells.map((cell) => `| ${cell}`.trimEnd()).join(' ')} |\n`;

const CATEGORY_TITLES: Readonly<Record<Category, string>> = {
  model: 'Models',
  storage: 'Storage',
  database: 'Databases',
  hosting: 'Hosting',
  email: 'E-mail',
  saas: 'Applications',
};

const ofCategory = (category: Category): readonly Provider[] =>
  providers.filter(({ file }) => file!.category === category);

test('README.md lists the providers', async () => {
  const rows = CATEGORIES.map((category) =>
    tableRow(
      CATEGORY_TITLES[category],
      ofCategory(category)
        .map(({ displayName, file }) => `[${displayName}](${file!.docs})`)
        .join(', '),
    ),
  );
  await expectGeneratedParts('README.md', [
    [/(?<=^<!-- providers -->\n\|.*\n\|---\|---\|\n).*?(?=^<!-- \/providers -->)/ms, rows.join('')],
  ]);
});

test('docs/providers.md describes each provider', async () => {
  const rows = CATEGORIES.flatMap((category) =>
    ofCategory(category).map((provider) => {
      const { slug, displayName, credentialFields, originNames } = provider;
      const namesWhere = (required: boolean) =>
        code(credentialFields.filter((field) => field.required === required).map(({ name }) => name));
      const origins = originNames.slice(1).map((name) => `${slug}:${name}`);
      return tableRow(
        `[${displayName}](${provider.file!.docs})`,
        code([slug, ...origins]),
        namesWhere(true),
        namesWhere(false),
        code([`/v1/proxy/${slug}${sdkOf(provider).basePath}`]),
      );
    }),
  );
  const variables = providers.map((provider) => {
    const { env, secretEnv, removeEnv, remark } = sdkOf(provider);
    const names = Object.keys(env);
    const removed = [...secretEnv, ...removeEnv].filter((name) => !names.includes(name));
    return tableRow(provider.slug, code(names), code(removed), (remark ?? '').replaceAll('|', '\\|'));
  });
  await expectGeneratedParts('docs/providers.md', [
    [/(?<=^<!-- providers -->\n\|.*\n\|---\|---\|---\|---\|---\|\n).*?(?=^<!-- \/providers -->)/ms, rows.join('')],
    [/(?<=^<!-- variables -->\n\|.*\n\|---\|---\|---\|---\|\n).*?(?=^\| custom \|)/ms, variables.join('')],
  ]);
});

test('docs/contract.md lists the providers', async () => {
  const list = wrap(`Built-in providers are ${code(providers.map(({ slug }) => slug))}.`);
  await expectGeneratedParts('docs/contract.md', [
    [/(?<=^<!-- providers -->\n).*?(?=^<!-- \/providers -->)/ms, `${list}\n`],
  ]);
});
