/** Reads the report of a billing account from the provider's API, at the provider's address. */
import type { Dialer } from '@acg/base/dialer/dialer';
import { createUndiciConnector } from '@acg/base/dialer/undici-connector';
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { Agent } from 'undici';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { splitBaseUrl } from '../providers/catalogue/split-base-url.js';
import type { CustomProviderService } from '../providers/custom/custom-provider-service.js';
import { anthropicHeaders, readAnthropicReport } from './apis/anthropic.js';
import { openAiHeaders, readOpenAiReport } from './apis/openai.js';
import { OPENROUTER_REPORTED_DAYS, openRouterHeaders, readOpenRouterReport } from './apis/openrouter.js';
import { PROVIDER_REPORT_BYTES, ReportClient, ReportProblem, TENANT_REPORT_BYTES } from './apis/report-client.js';
import { checkReport } from './check-report.js';
import type { DayRange, ProviderReport } from './report/provider-report.js';
import type { BillingApi } from './schema.js';

interface Api {
  readonly headers: (adminKey: string) => Readonly<Record<string, string>>;
  readonly read: (client: ReportClient, range: DayRange, nowMs: number) => Promise<ProviderReport>;
  /** Length of the buckets of usage. */
  readonly bucketMs: number;
  /** Completed days that the provider reports; null: all. */
  readonly reportedDays: number | null;
}

export const REPORT_APIS: { readonly [Name in BillingApi]: Api } = {
  openai: { headers: openAiHeaders, read: readOpenAiReport, bucketMs: HOUR_MS, reportedDays: null },
  anthropic: { headers: anthropicHeaders, read: readAnthropicReport, bucketMs: HOUR_MS, reportedDays: null },
  openrouter: {
    headers: openRouterHeaders,
    read: readOpenRouterReport,
    bucketMs: DAY_MS,
    reportedDays: OPENROUTER_REPORTED_DAYS,
  },
};

interface ReportSource {
  readonly orgId: string;
  readonly api: BillingApi;
  readonly providerSlug: string;
  readonly adminKey: string;
}

export class ReportReader {
  constructor(
    readonly catalogue: Catalogue,
    readonly customProviders: CustomProviderService,
    readonly dialer: Dialer,
  ) {}

  /** Throws {@link ReportProblem}. */
  async read(source: ReportSource, range: DayRange, nowMs: number, signal: AbortSignal): Promise<ProviderReport> {
    const { api, orgId, adminKey } = source;
    const { origin, tenant } = await this.#address(source);
    const dispatcher = new Agent({ connect: createUndiciConnector(this.dialer, tenant ? orgId : null), pipelining: 0 });
    try {
      const { headers, read, bucketMs } = REPORT_APIS[api];
      const bytes = tenant ? TENANT_REPORT_BYTES : PROVIDER_REPORT_BYTES;
      const client = new ReportClient(dispatcher, origin, headers(adminKey), signal, bytes);
      return checkReport(await read(client, range, nowMs), range, bucketMs);
    } finally {
      void dispatcher.destroy().catch(() => undefined);
    }
  }

  /** The origin of the provider, which a tenant configured for a custom one. */
  async #address({ orgId, providerSlug }: ReportSource): Promise<{ origin: string; tenant: boolean }> {
    const custom = (await this.customProviders.own(orgId)).find(({ slug }) => slug === providerSlug);
    const address = (custom ?? this.catalogue.get(providerSlug))?.fixedAddress();
    if (address == null)
      throw new ReportProblem(`The provider ${providerSlug} was deleted: delete this billing account.`);
    return { origin: splitBaseUrl(address).origin, tenant: custom !== undefined };
  }
}
