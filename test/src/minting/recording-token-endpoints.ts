/**
 * Stand-in of the vendors' token endpoints: accepts every request unchecked, records what it got, and answers as the references of AWS STS,
 * RFC 6749 §5.1 and Google's generateAccessToken say.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Received {
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly authorization: string | undefined;
  readonly beta: string | string[] | undefined;
}

const createStsAnswer = () => `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><SessionToken>session-token-0123456789</SessionToken>
<SecretAccessKey>temporary-secret-0123456789</SecretAccessKey><Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration>
<AccessKeyId>ASIAIOSFODNN7EXAMPLE</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>`;

export class RecordingTokenEndpoints {
  readonly received: Received[] = [];
  private readonly server: Server = createServer((request, response) => void this.answer(request, response));

  static async start(): Promise<RecordingTokenEndpoints> {
    const endpoints = new RecordingTokenEndpoints();
    await new Promise<void>((resolve) => endpoints.server.listen(0, '127.0.0.1', resolve));
    return endpoints;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  lastAt(path: string): Received {
    return this.received.findLast((one) => one.path === path)!;
  }

  close(): void {
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { url: path = '', headers } = request;
    const isJson = headers['content-type'] === 'application/json';
    const params = isJson ? JSON.parse(text || '{}') : Object.fromEntries(new URLSearchParams(text));
    this.received.push({ path, params, authorization: headers.authorization, beta: headers['anthropic-beta'] });
    if (path === '/sts') return void response.end(createStsAnswer());
    if (path === '/redirect') return void response.writeHead(302, { location: `${this.origin}/elsewhere` }).end();
    if (path === '/huge') return void response.end('x'.repeat(100_000));
    response.setHeader('content-type', 'application/json');
    if (path.endsWith(':generateAccessToken')) {
      const expireTime = new Date(Date.now() + 3_600_000).toISOString();
      return void response.end(JSON.stringify({ accessToken: 'ya29.impersonated-0123456789', expireTime }));
    }
    const accessToken = `minted-at${path}-0123456789`;
    response.end(JSON.stringify({ access_token: accessToken, token_type: 'Bearer', expires_in: 3_600 }));
  }
}
