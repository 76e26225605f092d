/** Every built-in provider is in every list of providers, or the list states why not. */
import { readFileSync } from 'node:fs';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { describe, expect, test } from 'vitest';
import { listSecretVariables, planProviderVariables } from '../../controlplane/cli/src/run/provider-variables.js';
import { codeSnippetsFor } from '../../controlplane/dashboard/src/components/secrets/code-snippets.js';

/** By slug, why its SDK reads no variables. */
const WITHOUT_VARIABLES: Readonly<Record<string, string>> = {};
/** By slug, why a setup can show no code for it. */
const WITHOUT_CODE: Readonly<Record<string, string>> = {};

const VARIABLES = 'controlplane/cli/src/run/provider-variables.ts';
const SNIPPETS = 'controlplane/dashboard/src/components/secrets/code-snippets.ts';

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

  test('the pages name it', () => {
    const places: readonly (readonly [string, string, RegExp])[] = [
      ['README.md: a row of the table of SDKs', page('README.md'), new RegExp(`^\\|.*'/v1/proxy/${slug}[/']`, 'm')],
      [
        'README.md: the paragraph that begins with “The credentials an account takes”',
        paragraph('README.md', 'The credentials an account takes'),
        new RegExp(`\\b${slug}\\b`),
      ],
      ['docs/cli.md: a row of the table of variables', page('docs/cli.md'), new RegExp(`^\\| ${slug} \\|`, 'm')],
      [
        'docs/contract.md: the paragraph that begins with “Built-in providers are”',
        paragraph('docs/contract.md', 'Built-in providers are'),
        new RegExp(`\`${slug}\``),
      ],
    ];
    const missing = places.filter(([, text, pattern]) => !pattern.test(text)).map(([place]) => place);
    expect(missing, `places where ${slug} is missing`).toEqual([]);
  });
});
