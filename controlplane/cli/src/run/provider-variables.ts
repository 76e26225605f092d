/**
 * The variables of a child that calls providers through the gateway: those that point the providers' SDKs to it, and
 * those that the child must not have, because they contain a provider credential or bypass the gateway.
 * `built-in-provider-variables.json` is generated from the provider files (`npm run openapi`). Of providers that the
 * operator added, only variables that this program knows can be set.
 */
import builtIn from './built-in-provider-variables.json' with { type: 'json' };

type Environment = Readonly<Record<string, string | undefined>>;

interface VariableValue {
  /** With {url} and {token}. */
  readonly value: string;
  /** The value of the first of these variables that the parent has wins. */
  readonly keep: readonly string[];
}

/** As `sdk` of `GET /v1/providers`. */
interface ProviderVariables {
  readonly env: Readonly<Record<string, VariableValue>>;
  /** Removed from every child, whether or not its agent may use the provider. */
  readonly secretEnv: readonly string[];
  /** Removed when the child uses the provider through the gateway. */
  readonly removeEnv: readonly string[];
  /** Describes what variables cannot configure. */
  readonly remark: string | null;
}

const BUILT_IN_PROVIDERS: Readonly<Record<string, ProviderVariables>> = builtIn;

const CUSTOM_PROVIDER: ProviderVariables = { env: {}, secretEnv: [], removeEnv: [], remark: null };

/** Converts `my-llm` to `MY_LLM`. */
const toVariableName = (slug: string): string => slug.toUpperCase().replaceAll('-', '_');

const SETTABLE: ReadonlySet<string> = new Set(Object.values(BUILT_IN_PROVIDERS).flatMap(({ env }) => Object.keys(env)));
const OWN_SUFFIXES = ['API_KEY', 'API_TOKEN', 'TOKEN', 'BASE_URL', 'API_URL', 'API_BASE', 'URL', 'ENDPOINT'];

/** Whether a provider of the gateway's operator may set the variable. Others, such as `NODE_OPTIONS`, run code. */
const isSettableVariable = (slug: string, name: string): boolean =>
  SETTABLE.has(name) || OWN_SUFFIXES.some((suffix) => name === `${toVariableName(slug)}_${suffix}`);

export interface UsedProvider {
  readonly slug: string;
  /** Null: a provider of the organization, which has no variables of its own. */
  readonly variables: ProviderVariables | null;
}

interface ProviderPlan {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
  readonly remarks: readonly string[];
}

/** Plans the variables of a child that uses these providers through the gateway. `env`: the parent's variables. */
export function planProviderVariables(
  providers: readonly UsedProvider[],
  { gatewayUrl, token, env }: { readonly gatewayUrl: string; readonly token: string; readonly env: Environment },
): ProviderPlan {
  const set: Record<string, string> = {};
  const remove = new Set(listSecretVariables());
  const remarks: string[] = [];
  for (const { slug, variables } of providers) {
    const name = toVariableName(slug);
    const url = `${gatewayUrl}/v1/proxy/${slug}`;
    set[`ACG_${name}_BASE_URL`] = url;
    if (variables === null) remove.add(`${name}_API_KEY`);
    const { env: values, secretEnv, removeEnv, remark } = variables ?? CUSTOM_PROVIDER;
    for (const [variable, { value, keep }] of Object.entries(values)) {
      if (!isSettableVariable(slug, variable)) continue;
      const kept = keep.map((other) => env[other]).find((text) => text !== undefined && text !== '');
      set[variable] = kept ?? value.replaceAll('{url}', url).replaceAll('{token}', token);
    }
    for (const variable of [...secretEnv, ...removeEnv]) remove.add(variable);
    if (remark !== null) remarks.push(`${slug}: ${remark}`);
  }
  return { set, remove: [...remove], remarks };
}

/** The variables of a provider that this program knows; null for another one. */
export const knownVariablesOf = (slug: string): ProviderVariables | null =>
  Object.hasOwn(BUILT_IN_PROVIDERS, slug) ? BUILT_IN_PROVIDERS[slug]! : null;

/** URL of an MCP server behind the gateway: as its file says, else at `/mcp`. */
export function findMcpUrl(slug: string, gatewayUrl: string): string {
  const url = `${gatewayUrl}/v1/proxy/${slug}`;
  const variable = knownVariablesOf(slug)?.env[`${toVariableName(slug)}_URL`];
  return variable === undefined ? `${url}/mcp` : variable.value.replaceAll('{url}', url);
}

/** Lists variables that contain a credential of a built-in provider. */
export const listSecretVariables = (): readonly string[] =>
  Object.values(BUILT_IN_PROVIDERS).flatMap(({ secretEnv }) => secretEnv);
