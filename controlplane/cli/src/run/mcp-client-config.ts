/**
 * Configuration of MCP clients for servers behind the gateway. The files hold no secret: a client takes the gateway token
 * from the variable ACG_GATEWAY_TOKEN, VS Code asks for it once. Entries of other servers stay as they are. Pure.
 */
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';

export const MCP_CLIENTS = ['claude-code', 'codex', 'cursor', 'vscode'] as const;
export type McpClient = (typeof MCP_CLIENTS)[number];

export interface McpServerEntry {
  /** Slug of the provider, and name of the server in the client. */
  readonly slug: string;
  readonly url: string;
}

const TOKEN_VARIABLE = 'ACG_GATEWAY_TOKEN';
const VSCODE_INPUT = 'acg-gateway-token';

/** Path of the client's file, from the project's directory. */
export const MCP_CONFIG_FILES: Readonly<Record<McpClient, string>> = {
  'claude-code': '.mcp.json',
  codex: '.codex/config.toml',
  cursor: '.cursor/mcp.json',
  vscode: '.vscode/mcp.json',
};

type Json = Record<string, unknown>;

/** Returns the text of the client's file with these servers. `current`: its text now; null: it does not exist. */
export function buildMcpConfig(client: McpClient, servers: readonly McpServerEntry[], current: string | null): string {
  if (client === 'codex') return mergeToml(servers, current ?? '');
  const config = parseConfig(client, current);
  const member = client === 'vscode' ? 'servers' : 'mcpServers';
  const entries = Object.fromEntries(servers.map(({ slug, url }) => [slug, buildJsonEntry(client, url)]));
  config[member] = { ...readObject(client, config, member), ...entries };
  if (client === 'vscode') config.inputs = withTokenInput(client, config.inputs);
  return `${JSON.stringify(config, null, 2)}\n`;
}

function buildJsonEntry(client: McpClient, url: string): Json {
  const reference = {
    'claude-code': `\${${TOKEN_VARIABLE}}`,
    cursor: `\${env:${TOKEN_VARIABLE}}`,
    vscode: `\${input:${VSCODE_INPUT}}`,
  }[client as Exclude<McpClient, 'codex'>];
  const headers = { Authorization: `Bearer ${reference}` };
  return client === 'cursor' ? { url, headers } : { type: 'http', url, headers };
}

function withTokenInput(client: McpClient, inputs: unknown): Json[] {
  if (inputs !== undefined && !Array.isArray(inputs)) throw unreadable(client, 'its inputs are no list');
  const input = { type: 'promptString', id: VSCODE_INPUT, description: 'Gateway token', password: true };
  const others = ((inputs ?? []) as Json[]).filter((one) => one?.id !== VSCODE_INPUT);
  return [...others, input];
}

function parseConfig(client: McpClient, text: string | null): Json {
  if (text === null || text.trim() === '') return {};
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    throw unreadable(client, 'it is not plain JSON');
  }
  if (!isObject(config)) throw unreadable(client, 'it is no JSON object');
  return config;
}

function readObject(client: McpClient, config: Json, member: string): Json {
  const value = config[member] ?? {};
  if (!isObject(value)) throw unreadable(client, `its ${member} is no object`);
  return value;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unreadable = (client: McpClient, why: string): CliError =>
  new CliError(EXIT_CODES.failed, `${MCP_CONFIG_FILES[client]} cannot be changed: ${why}`, {
    hint: 'run the command without --write, and add the entries by hand',
  });

const BEGIN = '# acg mcp config: begin';
const END = '# acg mcp config: end';

/** Replaces the part between the markers, and leaves every other line. */
function mergeToml(servers: readonly McpServerEntry[], current: string): string {
  const begin = current.indexOf(BEGIN);
  const end = current.indexOf(END);
  if (begin >= 0 !== end >= 0 || end < begin) throw unreadable('codex', 'one of the lines of acg is missing');
  const before = begin < 0 ? current : current.slice(0, begin);
  const after = begin < 0 ? '' : current.slice(end + END.length).replace(/^\r?\n/, '');
  for (const { slug } of servers) {
    // A table that occurs twice makes the whole file invalid.
    const table = new RegExp(`^\\s*\\[\\s*mcp_servers\\s*\\.\\s*["']?${slug}["']?\\s*[.\\]]`, 'm');
    if (table.test(before + after)) throw unreadable('codex', `it has a server ${slug} of its own`);
  }
  const tables = servers.map(
    ({ slug, url }) =>
      `[mcp_servers.${slug}]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "${TOKEN_VARIABLE}"\n`,
  );
  const gap = before === '' || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  return `${before}${gap}${BEGIN}\n${tables.join('\n')}${END}\n${after}`;
}
