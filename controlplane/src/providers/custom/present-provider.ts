/** How lists show a provider. */
import { listMethodFields } from '../catalogue/mint-method.js';
import type { Provider } from '../catalogue/provider.js';
import type { CredentialField, ProviderFile } from '../catalogue/provider-definition.js';
import type { CustomProviderRow } from './custom-provider-store.js';
import type { CredentialFieldView, CustomProviderView, ListedProvider, ProviderFactsView } from './schema.js';

export const presentFields = (fields: readonly CredentialField[]): CredentialFieldView[] =>
  fields.map(({ name, label, required, secret, kind, placeholder, hint, looksLike, values }) => ({
    name,
    label,
    required,
    secret,
    kind: kind ?? 'text',
    placeholder: placeholder ?? null,
    hint: hint ?? null,
    looksLike: looksLike ?? null,
    values: values ?? null,
  }));

export const presentMethods = (provider: Provider) =>
  (provider.rules.credentials.methods ?? []).map((method) => ({
    name: method.name,
    label: method.label,
    hint: method.hint ?? null,
    kind: method.kind,
    docs: method.docs ?? null,
    fields: presentFields(listMethodFields(provider.rules, method)),
  }));

export const presentFacts = (provider: Provider): ProviderFactsView => ({
  category: provider.file?.category ?? null,
  docs: provider.file?.docs ?? null,
  origins: [...provider.originNames],
  opaqueCalls: (provider.rules.opaque ?? []).map(({ call, why }) => ({ call, why: why ?? null })),
  presets: provider.presets.map(({ name, calls, scopes }) => ({ name, calls: [...calls], scopes: scopes ?? null })),
});

/** The type of custom providers that describes the injection best; `sigv4` and `path` exist in definitions only. */
function describeAuth(provider: Provider): Pick<ListedProvider, 'authType' | 'authName'> {
  const [rule] = provider.rules.inject;
  if (rule === undefined) return { authType: 'none', authName: null };
  if (rule.query !== undefined) return { authType: 'query', authName: rule.query };
  if (rule.header === undefined) {
    return { authType: rule.basic ? 'basic' : rule.sigv4 ? 'sigv4' : 'path', authName: null };
  }
  const isBearer = rule.header === 'authorization' && rule.value?.startsWith('Bearer {') === true;
  return isBearer ? { authType: 'bearer', authName: null } : { authType: 'header', authName: rule.header };
}

const present = (provider: Provider) => ({
  slug: provider.slug,
  displayName: provider.displayName,
  baseUrl: provider.fixedAddress(),
  ...describeAuth(provider),
  authPrefix: null,
  usageFormat: provider.mainUsageFormat === 'none' ? null : provider.mainUsageFormat,
  sensitivePaths: (provider.rules.sensitive ?? []).map(({ call }) => call),
  credentialFields: presentFields(provider.credentialFields),
  methods: presentMethods(provider),
  ...presentFacts(provider),
});

export const presentBuiltIn = (provider: Provider): ListedProvider => ({
  ...present(provider),
  id: null,
  definition: null,
  builtIn: true,
  createdAt: null,
});

export function presentCustomProvider(row: CustomProviderRow, provider: Provider): CustomProviderView {
  const { id, definition, authType, authName, authPrefix, createdAt } = row;
  return {
    ...present(provider),
    ...(definition === null ? { authType, authName, authPrefix } : {}),
    id,
    definition,
    builtIn: false,
    createdAt: createdAt.toISOString(),
  };
}

const SNIPPET_LABELS = { curl: 'curl', python: 'Python', typescript: 'TypeScript', 'ai-sdk': 'AI SDK' } as const;

/** Variables and code of the vendor's SDK. */
export const presentSdk = ({
  env = {},
  secretEnv = [],
  removeEnv = [],
  remark,
  basePath,
  snippets,
}: ProviderFile['sdk']) => ({
  env: Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      typeof value === 'string' ? { value, keep: [] } : { value: value.else, keep: [...value.keep] },
    ]),
  ),
  secretEnv: [...secretEnv],
  removeEnv: [...removeEnv],
  remark: remark ?? null,
  basePath: basePath ?? '',
  snippets: (Object.keys(SNIPPET_LABELS) as (keyof typeof SNIPPET_LABELS)[]).flatMap((id) => {
    const code = snippets[id];
    return code === undefined ? [] : { id, label: SNIPPET_LABELS[id], code };
  }),
});
