/** `acg mcp config`: prints or writes the configuration of an MCP client for the MCP servers of an agent. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Command, Option } from 'commander';
import { type AgentSelf, fetchSelf, resolveGatewayUrl } from '../../invocation/data-plane-client.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { parseList } from '../../options/page-options-and-value-parsers.js';
import { revokeMintedToken, withGatewayToken } from '../../run/gateway-token.js';
import {
  buildMcpConfig,
  MCP_CLIENTS,
  MCP_CONFIG_FILES,
  type McpClient,
  type McpServerEntry,
} from '../../run/mcp-client-config.js';
import { findMcpUrl } from '../../run/provider-variables.js';
import { CliError, EXIT_CODES, usage } from '../../terminal/cli-error.js';

interface McpConfigOptions {
  readonly agent?: string;
  readonly client: McpClient;
  readonly providers?: readonly string[];
  readonly write?: true;
}

/** Long enough to ask the gateway once; the token is revoked afterwards. */
const QUESTION_TTL_MS = 60_000;

export function registerMcpCommands(command: Command, program: ProgramInterface): void {
  command
    .command('config')
    .summary('print or write the configuration of an MCP client')
    .description('Prints or writes the configuration of an MCP client for the MCP servers of an agent.')
    .addOption(new Option('--client <client>', 'for which client').choices(MCP_CLIENTS).makeOptionMandatory())
    .option('--agent <agent>', 'name, slug or id (ACG_AGENT)')
    .option('--providers <slugs>', 'only these of its MCP servers, e.g. github-mcp', parseList)
    .option('--write', 'change the file of this directory instead of printing it')
    .action(async (options: McpConfigOptions) => {
      const run = program.begin();
      const gatewayUrl = await resolveGatewayUrl(run);
      const servers = await withGatewayToken(run, { agent: options.agent, ttlMs: QUESTION_TTL_MS }, async (token) => {
        try {
          return listMcpServers(await fetchSelf(gatewayUrl, token.token), gatewayUrl, options.providers);
        } finally {
          await revokeMintedToken(run, token, gatewayUrl);
        }
      });
      const { client } = options;
      if (options.write === true) {
        const path = writeMcpConfig(run, client, servers);
        run.printResult({ path, servers }, () => run.printLine(`wrote ${path}: ${listSlugs(servers)}`));
      } else if (run.isJson) run.printResult({ path: MCP_CONFIG_FILES[client], servers }, () => {});
      else run.printLine(buildMcpConfig(client, servers, null).trimEnd());
      run.printNote(describeToken(client));
    });
}

const listSlugs = (servers: readonly McpServerEntry[]): string => servers.map(({ slug }) => slug).join(', ');

const describeToken = (client: McpClient): string =>
  client === 'vscode'
    ? 'VS Code asks for a gateway token once: acg keys create'
    : `start ${client} with the token in ACG_GATEWAY_TOKEN, as acg run does`;

/** `wanted`: only these; absent: all MCP servers of the agent. */
export function listMcpServers(
  { agent, providers }: AgentSelf,
  gatewayUrl: string,
  wanted: readonly string[] | undefined,
): readonly McpServerEntry[] {
  const known = providers.filter(({ mcp }) => mcp === true).map(({ slug }) => slug);
  const missing = wanted?.find((slug) => !known.includes(slug));
  if (missing !== undefined)
    throw usage(
      `${missing} is no MCP server of ${agent.slug}: it has ${known.join(', ') || 'none'}`,
      `acg accounts add ${missing} --agent ${agent.slug}`,
    );
  if (known.length === 0)
    throw new CliError(EXIT_CODES.failed, `${agent.slug} has no MCP server`, {
      hint: `acg accounts add github-mcp --agent ${agent.slug}`,
    });
  return (wanted ?? known).map((slug) => ({ slug, url: findMcpUrl(slug, gatewayUrl) }));
}

/** Replaces the client's file in this directory atomically. Returns its path. */
function writeMcpConfig({ terminal }: Invocation, client: McpClient, servers: readonly McpServerEntry[]): string {
  const path = MCP_CONFIG_FILES[client];
  const absolute = join(terminal.cwd, path);
  const text = buildMcpConfig(client, servers, readText(absolute));
  mkdirSync(dirname(absolute), { recursive: true });
  const draft = `${absolute}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text, { flag: 'wx' });
    renameSync(draft, absolute);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new CliError(EXIT_CODES.failed, `cannot write ${path}: ${(error as Error).message}`);
  }
  return path;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CliError(EXIT_CODES.failed, `cannot read ${path}: ${(error as Error).message}`);
  }
}

/** Notes the servers in the client's file before the program starts, where `--mcp-client` names it. */
export function writeMcpConfigOfRun(run: Invocation, client: McpClient, servers: readonly McpServerEntry[]): void {
  run.printNote(`acg: wrote ${writeMcpConfig(run, client, servers)}: ${listSlugs(servers)}`);
}
