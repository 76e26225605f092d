import { describe, expect, it } from 'vitest';
import { buildMcpConfig, MCP_CLIENTS } from './mcp-client-config.js';

const GITHUB = { slug: 'github-mcp', url: 'https://gw.example/v1/proxy/github-mcp/mcp/' };
const OWN = { slug: 'our-mcp', url: 'https://gw.example/v1/proxy/our-mcp/mcp' };

describe('configuration of MCP clients', () => {
  it('names the variable of the token in the form of each client', () => {
    expect(JSON.parse(buildMcpConfig('claude-code', [GITHUB], null))).toEqual({
      mcpServers: {
        'github-mcp': { type: 'http', url: GITHUB.url, headers: { Authorization: `Bearer \${ACG_GATEWAY_TOKEN}` } },
      },
    });
    expect(JSON.parse(buildMcpConfig('cursor', [GITHUB], null))).toEqual({
      mcpServers: { 'github-mcp': { url: GITHUB.url, headers: { Authorization: `Bearer \${env:ACG_GATEWAY_TOKEN}` } } },
    });
    expect(JSON.parse(buildMcpConfig('vscode', [GITHUB], null))).toEqual({
      servers: {
        'github-mcp': {
          type: 'http',
          url: GITHUB.url,
          headers: { Authorization: `Bearer \${input:acg-gateway-token}` },
        },
      },
      inputs: [{ type: 'promptString', id: 'acg-gateway-token', description: 'Gateway token', password: true }],
    });
    expect(buildMcpConfig('codex', [GITHUB, OWN], null)).toBe(
      `# acg mcp config: begin
[mcp_servers.github-mcp]
url = "${GITHUB.url}"
bearer_token_env_var = "ACG_GATEWAY_TOKEN"

[mcp_servers.our-mcp]
url = "${OWN.url}"
bearer_token_env_var = "ACG_GATEWAY_TOKEN"
# acg mcp config: end
`,
    );
  });

  it.each(MCP_CLIENTS)('%s: a second run changes nothing', (client) => {
    const once = buildMcpConfig(client, [GITHUB, OWN], null);
    expect(buildMcpConfig(client, [GITHUB, OWN], once)).toBe(once);
  });

  it('keeps what others have written', () => {
    const before = { mcpServers: { mine: { command: 'x' }, 'github-mcp': { url: 'old' } }, other: 1 };
    const after = JSON.parse(buildMcpConfig('cursor', [GITHUB], JSON.stringify(before)));
    expect(after).toMatchObject({
      other: 1,
      mcpServers: { mine: { command: 'x' }, 'github-mcp': { url: GITHUB.url } },
    });
    const inputs = [{ id: 'mine', type: 'promptString' }];
    expect(JSON.parse(buildMcpConfig('vscode', [OWN], JSON.stringify({ inputs }))).inputs).toHaveLength(2);
    const toml = 'model = "gpt-5"\n\n[mcp_servers.mine]\ncommand = "x"\n';
    const first = buildMcpConfig('codex', [GITHUB], toml);
    expect(first.startsWith(toml)).toBe(true);
    const appended = `${first}\n[profiles.a]\nmodel = "b"\n`;
    const second = buildMcpConfig('codex', [OWN], appended);
    expect(second).toContain('[profiles.a]\nmodel = "b"\n');
    expect(second).toContain('[mcp_servers.our-mcp]');
    expect(second).not.toContain('github-mcp');
  });

  it('rejects a file that it cannot change safely', () => {
    expect(() => buildMcpConfig('vscode', [GITHUB], '{ // mine\n}')).toThrow('not plain JSON');
    expect(() => buildMcpConfig('cursor', [GITHUB], '[]')).toThrow('no JSON object');
    expect(() => buildMcpConfig('cursor', [GITHUB], '{"mcpServers":[]}')).toThrow('mcpServers is no object');
    expect(() => buildMcpConfig('vscode', [GITHUB], '{"inputs":{}}')).toThrow('inputs are no list');
    expect(() => buildMcpConfig('codex', [GITHUB], '[mcp_servers."github-mcp"]\nurl = "x"\n')).toThrow('of its own');
    expect(() => buildMcpConfig('codex', [GITHUB], '# acg mcp config: begin\n')).toThrow('is missing');
  });
});
