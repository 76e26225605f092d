/**
 * The fields of a log record: each field once. Derived from these rows: the schema of `/logs`, its SQL, exports in JSON
 * and CSV, the table of docs/contract.md#usage, and the details of a call in the dashboard. Runs in browsers, too, so it
 * imports nothing.
 */

interface LogFieldDefinition {
  /** `text`: may contain anything that a caller or provider chose. */
  readonly type: 'uuid' | 'time' | 'text' | 'textOrNull' | 'count' | 'countOrNull' | 'number' | 'numberOrNull' | 'flag';
  /** Part of the API document and of docs/contract.md. */
  readonly description: string;
  readonly example: string | number | boolean | null;
  /** Row in the details of a call; null: shown under another name, such as that of the agent. */
  readonly shown: ShownField | null;
}

interface ShownField {
  readonly section: 'Tokens and cost' | 'Time and size';
  readonly label: string;
  readonly unit?: 'milliseconds' | 'bytes' | 'cents';
  /** The field of which this is a part. */
  readonly partOf?: string;
}

/** In the order of the exports: append new fields at the end. */
export const LOG_FIELDS = {
  id: {
    type: 'uuid',
    description: 'Id of the call.',
    example: '01a1ff0b-9370-715c-b9d6-4e1a8f3c7b12',
    shown: null,
  },
  requestId: {
    type: 'uuid',
    description: 'The same id, as in the response header x-gateway-request-id.',
    example: '01a1ff0b-9370-715c-b9d6-4e1a8f3c7b12',
    shown: null,
  },
  createdAt: {
    type: 'time',
    description: 'Start of the call.',
    example: '2026-01-12T09:30:00.000Z',
    shown: null,
  },
  agentId: { type: 'uuid', description: 'The agent.', example: '01a1ff05-9d40-7b32-8e55-1c7a4f90d204', shown: null },
  keyId: {
    type: 'uuid',
    description: 'The gateway token.',
    example: '01a1ff06-1170-7c44-b2d8-6e3b9a51c705',
    shown: null,
  },
  providerSlug: { type: 'text', description: 'The provider.', example: 'openai', shown: null },
  accountId: {
    type: 'uuid',
    description: 'The provider account.',
    example: '01a1ff07-2ab0-7d18-a6f3-90b4c2e7d106',
    shown: null,
  },
  method: { type: 'text', description: 'HTTP method.', example: 'POST', shown: null },
  path: {
    type: 'text',
    description: 'Path at the provider without its query, at most 1024 characters.',
    example: '/v1/chat/completions',
    shown: null,
  },
  status: { type: 'count', description: 'Status that the agent received.', example: 200, shown: null },
  error: {
    type: 'textOrNull',
    description: 'Class of the error, such as `timeout` or `client_aborted`; null: none.',
    example: null,
    shown: null,
  },
  model: {
    type: 'textOrNull',
    description: 'The model, as the provider names it; null: none.',
    example: 'gpt-5-mini',
    shown: { section: 'Tokens and cost', label: 'Model' },
  },
  tokensIn: {
    type: 'count',
    description: 'Sum of uncached input, cache reads and cache writes.',
    example: 1_312,
    shown: { section: 'Tokens and cost', label: 'Input' },
  },
  tokensOut: {
    type: 'count',
    description: 'Output tokens, reasoning included.',
    example: 268,
    shown: { section: 'Tokens and cost', label: 'Output' },
  },
  tokensCacheRead: {
    type: 'count',
    description: 'Part of tokensIn that the provider read from its cache.',
    example: 0,
    shown: { section: 'Tokens and cost', label: 'from cache', partOf: 'tokensIn' },
  },
  tokensCacheWrite: {
    type: 'count',
    description: 'Part of tokensIn that the provider wrote to its cache.',
    example: 0,
    shown: { section: 'Tokens and cost', label: 'written to cache', partOf: 'tokensIn' },
  },
  tokensReasoning: {
    type: 'count',
    description: 'Part of tokensOut.',
    example: 0,
    shown: { section: 'Tokens and cost', label: 'reasoning', partOf: 'tokensOut' },
  },
  costCents: {
    type: 'number',
    description: 'US cents, not rounded.',
    example: 0.0421,
    shown: { section: 'Tokens and cost', label: 'Cost', unit: 'cents' },
  },
  usageSource: {
    type: 'text',
    description: 'Source of the tokens: `reported`, `estimated`, `partial` or `none`.',
    example: 'reported',
    shown: { section: 'Tokens and cost', label: 'Token source' },
  },
  priceSource: {
    type: 'text',
    description: 'Source of the price: `library`, `override`, `fallback`, `per_request` or `none`.',
    example: 'library',
    shown: { section: 'Tokens and cost', label: 'Price source' },
  },
  durationMs: {
    type: 'count',
    description: 'Milliseconds from the start to the end of the response.',
    example: 812,
    shown: { section: 'Time and size', label: 'Duration', unit: 'milliseconds' },
  },
  ttfbMs: {
    type: 'countOrNull',
    description: 'Milliseconds from the start to the head of the provider’s response; null: it sent none.',
    example: 210,
    shown: { section: 'Time and size', label: 'Time to first byte', unit: 'milliseconds' },
  },
  bytesIn: {
    type: 'count',
    description: 'Bytes of the request body.',
    example: 412,
    shown: { section: 'Time and size', label: 'Sent', unit: 'bytes' },
  },
  bytesOut: {
    type: 'count',
    description: 'Bytes of the response body.',
    example: 1_980,
    shown: { section: 'Time and size', label: 'Received', unit: 'bytes' },
  },
  streamed: {
    type: 'flag',
    description: 'Whether the response was a stream.',
    example: true,
    shown: { section: 'Time and size', label: 'Streamed' },
  },
  dataPlaneId: {
    type: 'text',
    description: 'The data plane that forwarded the call.',
    example: 'dp-eu-1',
    shown: { section: 'Time and size', label: 'Data plane' },
  },
  statedCostCents: {
    type: 'numberOrNull',
    description: 'Cost that the provider itself states in its response, US cents, not rounded; null: it states none.',
    example: null,
    shown: { section: 'Tokens and cost', label: 'Cost stated by the provider', unit: 'cents' },
  },
  tool: {
    type: 'textOrNull',
    description: 'Tool of an MCP server that the call names; null: none.',
    example: null,
    shown: { section: 'Tokens and cost', label: 'Tool' },
  },
  tags: {
    type: 'textOrNull',
    description: 'Tags that the caller stated, `key=value`, sorted, separated by commas; null: none.',
    example: 'customer=acme,feature=search',
    shown: { section: 'Tokens and cost', label: 'Tags' },
  },
  runId: {
    type: 'textOrNull',
    description: 'The run whose key made the call; null: none.',
    example: null,
    shown: { section: 'Tokens and cost', label: 'Run' },
  },
  wouldReject: {
    type: 'textOrNull',
    description: 'Limits in audit mode that would have rejected the call, such as `rpm` or `budget:<id>`; null: none.',
    example: null,
    shown: { section: 'Tokens and cost', label: 'Would have been rejected by' },
  },
  agentName: {
    type: 'textOrNull',
    description: 'Name of the agent now; null: it is deleted.',
    example: 'Support bot',
    shown: null,
  },
  projectName: {
    type: 'textOrNull',
    description: 'Name of the project now; null: it is deleted or not known.',
    example: 'Default',
    shown: null,
  },
  keyName: {
    type: 'textOrNull',
    description: 'Name of the gateway token now; null: it is deleted.',
    example: 'production',
    shown: null,
  },
} as const satisfies Readonly<Record<string, LogFieldDefinition>>;

export type LogFieldName = keyof typeof LOG_FIELDS;

/** Rows in the order of the list. */
export const LOG_FIELD_ROWS: readonly (LogFieldDefinition & { readonly name: LogFieldName })[] = Object.entries(
  LOG_FIELDS,
).map(([name, field]) => ({ name: name as LogFieldName, ...field }));
