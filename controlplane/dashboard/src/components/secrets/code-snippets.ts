/** Code that calls a provider through the gateway. Only the address and the key differ from a direct call. */

interface CodeSnippet {
  readonly id: string;
  readonly label: string;
  readonly code: string;
}

/** What a provider says about its SDK; `{url}` and `{token}` stand for the address on the gateway and the token. */
export interface ProviderSdk {
  /** Path that the SDK expects after the gateway's provider path in its base URL. */
  readonly basePath: string;
  readonly snippets: readonly CodeSnippet[];
}

interface SnippetSource {
  readonly providerSlug: string;
  /** Null: a custom provider, or one that is still loading. */
  readonly sdk: ProviderSdk | null;
  /** Address of the data plane, without a trailing slash. */
  readonly gatewayUrl: string;
  /** The gateway token, or its placeholder. */
  readonly token: string;
  /** Undefined: no snippet for the CLI. */
  readonly run?: { readonly agent: string; readonly controlUrl: string } | undefined;
}

/** Placeholder of a token that is no longer shown. */
export const TOKEN_PLACEHOLDER = '$ACG_GATEWAY_TOKEN';
/** Placeholder used when the operator has not configured the public address of the data plane. */
export const GATEWAY_URL_PLACEHOLDER = 'https://YOUR-GATEWAY';

const UNKNOWN_SDK: ProviderSdk = {
  basePath: '',
  snippets: [
    {
      id: 'curl',
      label: 'curl',
      code: 'curl {url}/PATH-OF-THE-PROVIDER \\\n  -H "authorization: Bearer {token}"',
    },
  ],
};

export function codeSnippetsFor({ providerSlug, sdk, gatewayUrl, token, run }: SnippetSource): readonly CodeSnippet[] {
  const base = `${gatewayUrl}/v1/proxy/${providerSlug}`;
  const { basePath, snippets } = sdk ?? UNKNOWN_SDK;
  const command =
    run === undefined ? [] : [{ id: 'run', label: 'acg run', code: cliCommands(run.agent, run.controlUrl) }];
  return [
    ...snippets.map((snippet) => ({
      ...snippet,
      code: snippet.code.replaceAll('{url}', base).replaceAll('{token}', token),
    })),
    ...command,
    { id: 'prompt', label: 'Prompt for a coding agent', code: codingAgentPrompt(base, basePath, providerSlug) },
  ];
}

const codingAgentPrompt = (
  base: string,
  basePath: string,
  providerSlug: string,
): string => `Make this project call ${providerSlug} through our credential gateway:
- Base URL of the SDK: ${base}${basePath}
- API key: the environment variable ACG_GATEWAY_TOKEN. Never write the token into a file that is committed.
- Change nothing else: same SDK, same models, same parameters. Remove the provider's own key and the code that reads it.
Then make one call and show me the response.`;

/**
 * `acg run` passes the gateway's addresses and a short-lived token in the environment; the program itself is unchanged.
 */
const cliCommands = (
  agent: string,
  controlUrl: string,
): string => `# The acg CLI ships with the gateway and is not in a registry.
# Build an installable package in its sources: npm pack -w controlplane/cli
acg login --url ${controlUrl}
acg run --agent ${agent} -- python agent.py`;
