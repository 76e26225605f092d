/**
 * Decides which tools, resources and prompts of an MCP server an agent may use. A name is allowed only as it is written;
 * a `deny` also holds for other cases and compatibility forms of the name, because some servers ignore them.
 */

import type { CallPolicy, McpNameRules } from '@acg/base/policy/call-rule-source';
import { McpNameRule } from '@acg/base/policy/mcp-name-rule';
import type { McpMessage } from './mcp-message-reader.js';

/** Members of a list result that the policy filters, and the member that names each item. */
const LISTS = {
  'tools/list': ['tools', 'name'],
  'prompts/list': ['prompts', 'name'],
  'resources/list': ['resources', 'uri'],
  'resources/templates/list': ['resourceTemplates', 'uriTemplate'],
} as const;
type ListMethod = keyof typeof LISTS;

/** Methods that pass with every policy. Notifications pass, too. */
const OPEN_METHODS: ReadonlySet<string> = new Set([
  ...Object.keys(LISTS),
  'initialize',
  'ping',
  'server/discover',
  'logging/setLevel',
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
]);

/** A JSON-RPC error for a call that the policy does not allow, worded as if the tool did not exist. */
export interface McpPolicyError {
  readonly code: -32602 | -32601;
  readonly message: string;
}

export class McpPolicy {
  readonly #tools: McpNameRule | null;
  readonly #resources: McpNameRule | null;
  readonly #prompts: McpNameRule | null;

  constructor({ tools, resources, prompts }: McpNameRules) {
    this.#tools = tools === null ? null : new McpNameRule(tools);
    this.#resources = resources === null ? null : new McpNameRule(resources);
    this.#prompts = prompts === null ? null : new McpNameRule(prompts);
  }

  /** Null: the policy allows the message. */
  check(message: McpMessage): McpPolicyError | null {
    const { kind, method, name, uri, ref, subscribedUris } = message;
    if (kind === 'response') return null;
    switch (method) {
      case 'tools/call':
        return this.#allowsTool(name) ? null : unknown(`Unknown tool: ${name ?? ''}`);
      case 'prompts/get':
        return this.#allowsPrompt(name) ? null : unknown(`Prompt ${name ?? ''} not found`);
      case 'resources/read':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#allowsResource(uri) ? null : unknown(`Resource ${uri ?? ''} not found`);
      case 'completion/complete': {
        const isAllowed =
          ref?.type === 'ref/prompt' ? this.#allowsPrompt(ref.value) : this.#allowsResource(ref?.value ?? null);
        return isAllowed ? null : unknown(`${ref?.value ?? 'The reference'} not found`);
      }
      case 'subscriptions/listen':
        return subscribedUris?.every((one) => this.#allowsResource(one)) ? null : unknown('Resource not found');
      default: {
        const isOpen = OPEN_METHODS.has(method) || (kind === 'notification' && method.startsWith('notifications/'));
        return isOpen ? null : { code: -32601, message: 'Method not found' };
      }
    }
  }

  /** What the answer to a list request is reduced to; null: the policy allows every item. */
  listFilter(method: string): McpListFilter | null {
    if (!Object.hasOwn(LISTS, method)) return null;
    const filter = this.#itemFilter(method as ListMethod);
    return filter === null ? null : new McpListFilter([filter]);
  }

  /** Reduces every list in a stream that the server may send any answer on. */
  get streamFilter(): McpListFilter {
    const filters = (Object.keys(LISTS) as ListMethod[]).map((method) => this.#itemFilter(method));
    return new McpListFilter(filters.filter((filter) => filter !== null));
  }

  #itemFilter(method: ListMethod): ItemFilter | null {
    const [list, member] = LISTS[method];
    if (method === 'tools/list' || method === 'prompts/list') {
      const rule = method === 'tools/list' ? this.#tools : this.#prompts;
      return rule === null ? null : { list, member, allows: (name) => rule.allows(name) };
    }
    const rule = this.#resources;
    return rule === null ? null : { list, member, allows: (uri) => rule.allowsUri(uri) };
  }

  #allowsTool(name: string | null): boolean {
    return name !== null && (this.#tools === null || this.#tools.allows(name));
  }

  #allowsPrompt(name: string | null): boolean {
    return name !== null && (this.#prompts === null || this.#prompts.allows(name));
  }

  #allowsResource(uri: string | null): boolean {
    return uri !== null && (this.#resources === null || this.#resources.allowsUri(uri));
  }
}

interface ItemFilter {
  /** Member of `result` that holds the items. */
  readonly list: string;
  /** Member of an item that names it. */
  readonly member: string;
  readonly allows: (name: string) => boolean;
}

export class McpListFilter {
  readonly #filters: readonly ItemFilter[];

  constructor(filters: readonly ItemFilter[]) {
    this.#filters = filters;
  }

  /** Removes what the agent may not use from the lists of a result. Returns whether it holds a list. */
  apply(result: Record<string, unknown>): boolean {
    let isList = false;
    for (const { list, member, allows } of this.#filters) {
      const items = result[list];
      if (items === undefined) continue;
      isList = true;
      result[list] = Array.isArray(items) ? items.filter((item: unknown) => isAllowedItem(item, member, allows)) : [];
    }
    // The next agent may see another list, so a shared cache must not keep this one.
    if (isList && 'cacheScope' in result) result.cacheScope = 'private';
    return isList;
  }
}

function isAllowedItem(item: unknown, member: string, allows: (name: string) => boolean): boolean {
  if (typeof item !== 'object' || item === null) return false;
  const name = (item as Record<string, unknown>)[member];
  return typeof name === 'string' && allows(name);
}

const unknown = (message: string): McpPolicyError => ({ code: -32602, message });

const policies = new WeakMap<McpNameRules, McpPolicy>();

/** The compiled policy; null: every tool, resource and prompt is allowed. */
export function getMcpPolicy(policy: CallPolicy | null): McpPolicy | null {
  const rules = policy?.mcp;
  if (rules === undefined) return null;
  let compiled = policies.get(rules);
  if (compiled === undefined) {
    compiled = new McpPolicy(rules);
    policies.set(rules, compiled);
  }
  return compiled;
}
