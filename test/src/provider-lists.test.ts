/** Every built-in provider stands wherever providers are listed by name, or the reason why not does. */
import { readFileSync } from 'node:fs';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { describe, expect, test } from 'vitest';
import { planProviders, secretVariables } from '../../controlplane/cli/src/run/provider-variables.js';
import { snippetsFor } from '../../controlplane/dashboard/src/parts/snippets.js';

/** By slug, why its SDK reads no variables. */
const WITHOUT_VARIABLES: Readonly<Record<string, string>> = {};
/** By slug, why a setup can show no code for it. */
const WITHOUT_CODE: Readonly<Record<string, string>> = {};

const gatewayUrl = 'https://gw.example';
const page = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const paragraph = (path: string, start: string): string => {
  const [found] = page(path)
    .split(/\n\n/)
    .filter((text) => text.startsWith(start));
  return found ?? '';
};

describe.each(new Catalogue().providers)('$slug', ({ slug }) => {
  test.skipIf(slug in WITHOUT_VARIABLES)(
    'acg run hands the token to its SDK, and keeps its own key from the child',
    () => {
      const { set } = planProviders([slug], { gatewayUrl, token: 'acg_token', env: {} });
      const own = Object.keys(set).filter((name) => !name.startsWith('ACG_'));
      expect(own.map((name) => set[name])).toContain('acg_token');
      expect(secretVariables()).toEqual(expect.arrayContaining(own.filter((name) => set[name] === 'acg_token')));
    },
  );

  test.skipIf(slug in WITHOUT_CODE)('the dashboard shows code that makes its SDK', () => {
    const snippets = snippetsFor({ providerSlug: slug, gatewayUrl, token: 'acg_token' });
    const code = snippets.find(({ id }) => id === 'typescript')?.code;
    expect(code).toContain(`${gatewayUrl}/v1/proxy/${slug}`);
    expect(code).toContain('acg_token');
  });

  test('the pages name it', () => {
    expect(page('README.md')).toMatch(new RegExp(`^\\|.*'/v1/proxy/${slug}[/']`, 'm'));
    expect(paragraph('README.md', 'The credentials an account takes')).toMatch(new RegExp(`\\b${slug}\\b`));
    expect(page('docs/cli.md')).toMatch(new RegExp(`^\\| ${slug} \\|`, 'm'));
    expect(paragraph('docs/contract.md', 'Built in are')).toContain(`\`${slug}\``);
  });
});
