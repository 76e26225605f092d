/** What the rules for one agent's calls to one provider are compiled from; see call-rules.ts. */

export interface CallRuleSource {
  readonly isCustom: boolean;
  /** `""` or `/x/y`: the path of the provider's address, before the path of a call. */
  readonly basePath: string;
  /** Rejected calls; empty when an admin allowed them for the account. Contexts share the lists of built-in providers. */
  readonly sensitiveCalls: readonly SensitiveCall[];
  /** Rejected calls whose path does not say what they do; empty when an admin allowed them for the account. */
  readonly opaqueCalls: readonly SensitiveCall[];
  /** Null: the agent may make every call. */
  readonly policy: CallPolicy | null;
  /** Where calls name their model, first match first; empty: the provider has no models. */
  readonly modelCalls: readonly ModelCall[];
}

/** One entry of a provider's list of calls that hand out credentials or change who has access. */
export interface SensitiveCall {
  /** A call pattern, see call-pattern.ts. */
  readonly call: string;
  /** Matches only if a query parameter has one of these names (patterns); empty: any query matches. */
  readonly query: readonly string[];
  /** Matches only if a header or a query parameter has one of these names. */
  readonly headers: readonly string[];
  /** Values of such headers that are allowed. */
  readonly harmlessValues: readonly string[];
}

/** The calls and models of one provider that an agent may use. */
export interface CallPolicy {
  /** True: no call is allowed. */
  readonly closed: boolean;
  /** Null: every call. */
  readonly calls: readonly string[] | null;
  /** Null: every model. */
  readonly models: ModelPatterns | null;
  /** Absent: every tool, resource and prompt of an MCP server. */
  readonly mcp?: McpNameRules;
  /** Of an MCP server; the first entry that matches a tool counts. Absent: no limit by tool. */
  readonly toolLimits?: readonly ToolLimit[];
}

/** All tools that match share one limit. */
export interface ToolLimit {
  /** Name or pattern; `*` matches any run of characters. */
  readonly tool: string;
  /** Requests in any 60 s. */
  readonly rpm: number;
}

/** What an agent may use of an MCP server. */
export interface McpNameRules {
  /** Null: every tool. */
  readonly tools: ModelPatterns | null;
  /** Of URIs. Null: every resource. */
  readonly resources: ModelPatterns | null;
  /** Null: every prompt. */
  readonly prompts: ModelPatterns | null;
}

/** `*` matches any run of characters. */
export interface ModelPatterns {
  /** Null: every model that is not denied. */
  readonly allow: readonly string[] | null;
  readonly deny: readonly string[];
}

interface ModelCall {
  readonly call: string;
  /**
   * `json`, `form`, `json_or_form`, `batch` (`requests[].params.model`), `path:x` (the segment after `x`),
   * `path_before_colon:x` (the same up to its last colon), `free`, `answer`, `unknown`.
   */
  readonly at: string;
}
