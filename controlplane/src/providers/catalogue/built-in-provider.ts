/**
 * What the control plane knows of a built-in provider (docs/contract.md#providers). One file per provider beside this
 * one.
 */
import type { IInjection } from '@acg/proto/messages';

/** Field → value, validated against {@link CredentialField}s. */
export type Credentials = Readonly<Record<string, string>>;

export interface CredentialField {
  readonly name: string;
  /** For forms, as are the next two. */
  readonly label: string;
  /** What a value looks like; never one that works. */
  readonly placeholder: string | null;
  /** What to fill in, or where to find it. */
  readonly hint: string | null;
  readonly required: boolean;
  /** A secret is masked wherever it would come back, so it must be long enough not to occur by chance. */
  readonly secret: boolean;
  readonly kind: 'text' | 'url' | 'region';
}

export interface BuiltInProvider {
  readonly slug: string;
  readonly displayName: string;
  /** How the credential goes out, for lists: as with custom providers, or `sigv4`. */
  readonly authType: 'bearer' | 'header' | 'sigv4';
  readonly authName: string | null;
  readonly credentialFields: readonly CredentialField[];
  /** Shown in lists; null where each account has its own. */
  readonly baseUrl: string | null;
  /** The address of one account. */
  address(credentials: Credentials): ProviderAddress;
  inject(credentials: Credentials): IInjection;
  readonly usageFormat: 'openai' | 'anthropic' | 'resend' | 's3' | 'none';
  /** Provider id in the price library; `''` = only PRICES_FILE. */
  readonly priceProvider: string;
  /** Statuses that are the provider's own failure (docs/contract.md#what-the-providers-do). */
  readonly failureStatuses: readonly number[];
  /** A failing answer that holds this text is a tenant's own trouble; `''` = none. */
  readonly failureExemptMarker: string;
  readonly probe: CredentialProbe;
  /** Refused, unless an admin allowed them for the account. */
  readonly sensitiveCalls: readonly SensitiveCall[];
  /** Where calls name their model, first match first; empty: this provider has no models. */
  readonly modelCalls: readonly ModelCall[];
  /** Whether frames need no metering, so that an upgrade may pass (docs/contract.md#websockets). */
  readonly websocket: boolean;
}

/** A GET that changes nothing and costs nothing, to see whether the provider takes a credential. */
export interface CredentialProbe {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the answer says that the credential is not valid; `body`: its first KiB. Not: that it may not do this. */
  refused(status: number, body: string): boolean;
}

export const isRejectedWith401 = (status: number): boolean => status === 401;

/** A call that hands out credentials or changes who has access. */
interface SensitiveCall {
  /** Method or `*`, then a path: `*` is any run inside one segment, `**` any number of segments. */
  readonly call: string;
  readonly why: string;
  /** Only with a query parameter of one of these names, in lower case. */
  readonly query?: readonly string[];
  /** Only with a header of one of these names; a query parameter of that name counts too (presigned URLs). */
  readonly headers?: readonly string[];
  /** Values of such headers that do no harm. */
  readonly harmlessValues?: readonly string[];
}

export interface ModelCall {
  /** As in {@link SensitiveCall}. */
  readonly call: string;
  /**
   * `batch`: `requests[].params.model`; `path:x`: the segment behind `x`; `free`: none is named and none is used; `answer`:
   * it may use one that nobody sees, and what it costs, if anything, is booked when an answer states it; `unknown`: no
   * answer states what it costs, so it is refused where budgets or tokens are limited.
   */
  readonly at: 'json' | 'form' | 'json_or_form' | 'batch' | 'free' | 'answer' | 'unknown' | `path:${string}`;
}

interface ProviderAddress {
  readonly baseUrl: string;
  /** A tenant typed it: checked when saved and at every connect. */
  readonly tenantGiven: boolean;
}

export const SECRET_LENGTH_MIN = 8;

interface FieldText {
  readonly label: string;
  readonly placeholder?: string;
  readonly hint?: string;
}

/** Required unless said otherwise. */
export const secret = (name: string, shown: FieldText, required = true): CredentialField =>
  field(name, shown, { required, secret: true, kind: 'text' });

/** Optional unless said otherwise. */
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

/** `Authorization: Bearer {apiKey}`. */
export const bearerInjection = (apiKey: string): IInjection => ({
  header: { name: 'authorization', prefix: 'Bearer ', secret: apiKey },
});

/** One fixed address for everybody. */
export const fixedAddress = (baseUrl: string) => () => ({ baseUrl, tenantGiven: false });

/** `https://host/x/` → origin and `/x`. */
export function splitBaseUrl(baseUrl: string): { origin: string; basePath: string } {
  const url = new URL(baseUrl);
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}
