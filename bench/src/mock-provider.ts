/**
 * A fast stand-in provider in its own process: OpenAI-shaped responses with as little work as possible, so that the
 * bench measures the gateway and not the provider. `node mock-provider.js PORT [KEY_FILE CERTIFICATE_FILE]`.
 *   POST …/chat/completions   400 B JSON with usage; `?close` closes the connection after it
 *   POST …/responses          an endless stream, one event per second with its send time
 *   POST …/mcp/               400 B JSON-RPC response with the id 1; GET: an endless stream as above
 *   GET  …/download?bytes=N   N bytes        POST …/upload  discards the body, responds with its size
 */
import uws, { type HttpResponse } from 'uWebSockets.js';

const answer = JSON.stringify({
  id: 'chatcmpl-bench00000000000000000000000',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'gpt-5-mini-2025-08-07',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello! How can I help you today?', refusal: null },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 21, completion_tokens: 9, total_tokens: 30, prompt_tokens_details: { cached_tokens: 0 } },
  service_tier: 'default',
});
const body = answer + ' '.repeat(Math.max(0, 400 - answer.length));
const toolResult = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text: 'Hello! How can I help you today?' }], isError: false },
});
const toolBody = toolResult + ' '.repeat(400 - toolResult.length);
/** Each stream gets one event per second; the streams are spread over the second, as those of many callers. */
const EVENT_MS = 1_000;
const TURNS = 50;
const turns = Array.from({ length: TURNS }, () => new Set<HttpResponse>());
let opened = 0;
let turn = 0;
const block = Buffer.alloc(65_536, 'x');

const swallow = (res: HttpResponse, done: (bytes: number) => void): void => {
  let bytes = 0;
  res.onData((chunk, last) => {
    bytes += chunk.byteLength;
    if (last) done(bytes);
  });
};

function download(res: HttpResponse, total: number): void {
  const pump = (): boolean => {
    for (;;) {
      const left = total - res.getWriteOffset();
      if (left <= 0) return true;
      const [sent, done] = res.tryEnd(left >= block.length ? block : block.subarray(0, left), total);
      if (done || !sent) return true;
    }
  };
  res.onWritable(() => pump());
  res.cork(() => {
    res.writeHeader('content-type', 'application/octet-stream');
    pump();
  });
}

const [port, key, certificate] = process.argv.slice(2);

const app = certificate === undefined ? uws.App() : uws.SSLApp({ key_file_name: key!, cert_file_name: certificate });
app
  .any('/*', (res, req) => {
    const path = req.getUrl();
    const query = req.getQuery();
    let streams: Set<HttpResponse> | null = null;
    res.onAborted(() => {
      streams?.delete(res);
    });
    if (path.endsWith('/download')) return download(res, Number(new URLSearchParams(query).get('bytes')));
    if (path.endsWith('/upload')) {
      return swallow(res, (bytes) =>
        res.cork(() => res.writeHeader('content-type', 'application/json').end(`{"bytes":${bytes}}`)),
      );
    }
    if (path.endsWith('/responses') || (path.endsWith('/mcp/') && req.getMethod() === 'get')) {
      return swallow(res, () => {
        res.cork(() =>
          res.writeHeader('content-type', 'text/event-stream').write('event: response.created\ndata: {}\n\n'),
        );
        streams = turns[opened++ % TURNS]!;
        streams.add(res);
      });
    }
    const content = path.endsWith('/mcp/') ? toolBody : body;
    const close = query === 'close';
    swallow(res, () => res.cork(() => res.writeHeader('content-type', 'application/json').end(content, close)));
  })
  .listen('127.0.0.1', Number(port), (socket) => {
    if (!socket) process.exit(1);
  });

setInterval(() => {
  const event = `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"x","sent":${Date.now()}}\n\n`;
  for (const res of turns[turn++ % TURNS]!) res.cork(() => res.write(event));
}, EVENT_MS / TURNS);
