/** Describes a built-in provider (docs/contract.md#providers). Each provider has one file in this folder. */
import type { IInjection } from '@acg/proto/messages';

/** Maps field names to values, validated against {@link CredentialField}s. */
export type Credentials = Readonly<Record<string, string>>;

export interface CredentialField {
  readonly name: string;
  /** Label, placeholder and hint are shown in forms. */
  readonly label: string;
  /** Example of the value's format; never a working credential. */
  readonly placeholder: string | null;
  /** What to enter, or where to find the value. */
  readonly hint: string | null;
  readonly required: boolean;
  /** A secret is masked in responses, so it must be long enough not to occur there by chance. */
  readonly secret: boolean;
  readonly kind: 'text' | 'url' | 'region';
}

export interface BuiltInProvider {
  readonly slug: string;
  readonly displayName: string;
  /** How the credential is sent, for lists: the types of custom providers, or `sigv4`. */
  readonly authType: 'bearer' | 'header' | 'sigv4';
  readonly authName: string | null;
  readonly credentialFields: readonly CredentialField[];
  /** Shown in lists; null when each account has its own URL. */
  readonly baseUrl: string | null;
  /** Returns the URL of one account. */
  address(credentials: Credentials): ProviderAddress;
  inject(credentials: Credentials): IInjection;
  readonly usageFormat: 'openai' | 'anthropic' | 'resend' | 's3' | 'none';
  /** Provider id in the price library; `''` uses PRICES_FILE only. */
  readonly priceProvider: string;
  /** Status codes that count as failures of the provider (docs/contract.md#provider-specific-rules). */
  readonly failureStatuses: readonly number[];
  /** A failing response that contains this text is the tenant's own fault; `''` disables the check. */
  readonly failureExemptMarker: string;
  readonly probe: CredentialProbe;
  /** Calls that are rejected unless an admin allowed them for the account. */
  readonly sensitiveCalls: readonly SensitiveCall[];
  /** Where calls name their model; the first match wins. Empty: the provider has no models. */
  readonly modelCalls: readonly ModelCall[];
  /** Whether WebSocket frames need no metering, so that an upgrade may pass (docs/contract.md#websockets). */
  readonly websocket: boolean;
}

/** A GET without side effects and costs that checks whether the provider accepts a credential. */
export interface CredentialProbe {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Returns whether the response says that the credential is invalid. Missing permissions do not count. `body` is its
   * first KiB.
   */
  refused(status: number, body: string): boolean;
}

export const isRejectedWith401 = (status: number): boolean => status === 401;

/** A call that returns credentials or changes who has access. */
interface SensitiveCall {
  /** Method or `*`, then a path: `*` matches any characters within one segment, `**` any number of segments. */
  readonly call: string;
  readonly why: string;
  /** Matches only with a query parameter of one of these lower-case names. */
  readonly query?: readonly string[];
  /**
   * Matches only with a header of one of these names. A query parameter of the same name counts too (presigned URLs).
   */
  readonly headers?: readonly string[];
  /** Header values that are harmless. */
  readonly harmlessValues?: readonly string[];
}

export interface ModelCall {
  /** Same pattern as in {@link SensitiveCall}. */
  readonly call: string;
  /**
   * Location of the model. `batch`: `requests[].params.model`. `path:x`: the segment after `x`. `free`: the call uses
   * no model. `answer`: the call may use an unnamed model, and its cost is recorded when a response states it.
   * `unknown`: no response states the cost, so the call is rejected when budgets or tokens are limited.
   */
  readonly at: 'json' | 'form' | 'json_or_form' | 'batch' | 'free' | 'answer' | 'unknown' | `path:${string}`;
}

interface ProviderAddress {
  readonly baseUrl: string;
  /** The URL was entered by a tenant, so it is checked when saved and at every connect. */
  readonly tenantGiven: boolean;
}

export const SECRET_LENGTH_MIN = 8;

interface FieldText {
  readonly label: string;
  readonly placeholder?: string;
  readonly hint?: string;
}

/** A field that is required by default. */
export const secret = (name: string, shown: FieldText, required = true): CredentialField =>
  field(name, shown, { required, secret: true, kind: 'text' });

/** A field that is optional by default. */
export const text = (
  name: string,
  shown: FieldText,
  required = false,
  kind: CredentialField['kind'] = 'text',
): CredentialField => field(name, shown, { required, secret: false, kind });

const field = (
  name: string,
  { label, placeholder, hint }: FieldText,
  rules: Pick<CredentialField, 'required' | 'secret' | 'kind'>,
): CredentialField => ({ name, label, placeholder: placeholder ?? null, hint: hint ?? null, ...rules });

/** Sends `Authorization: Bearer {apiKey}`. */
export const bearerInjection = (apiKey: string): IInjection => ({
  header: { name: 'authorization', prefix: 'Bearer ', secret: apiKey },
});

/** One fixed base URL for all accounts. */
export const fixedAddress = (baseUrl: string) => () => ({ baseUrl, tenantGiven: false });

/** Splits `https://host/x/` into the origin and `/x`. */
export function splitBaseUrl(baseUrl: string): { origin: string; basePath: string } {
  const url = new URL(baseUrl);
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}
