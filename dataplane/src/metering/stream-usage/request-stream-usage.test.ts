import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addIncludeUsage, canRequestStreamUsage } from './request-stream-usage.js';

const edit = (text: string): string | null => addIncludeUsage(Buffer.from(text)).edited?.toString() ?? null;

describe('include_usage: requests usage by editing the raw bytes', () => {
  it.each([
    // The request of openai 6.49.0
    [
      '{"model":"gpt-5-mini","messages":[{"role":"user","content":"hi"}],"stream":true}',
      '{"stream_options":{"include_usage":true},"model":"gpt-5-mini","messages":[{"role":"user","content":"hi"}],"stream":true}',
    ],
    // Pretty-printed, as openai 4.104.0 sends it
    [
      '{\n  "model": "gpt-4o-mini",\n  "stream": true\n}',
      '{"stream_options":{"include_usage":true},\n  "model": "gpt-4o-mini",\n  "stream": true\n}',
    ],
    [
      ' {"stream":true,"stream_options":{"include_obfuscation":false}}\n',
      ' {"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}\n',
    ],
    ['{"stream":true,"stream_options":{ }}', '{"stream":true,"stream_options":{"include_usage":true }}'],
    ['{"stream":true,"stream_options":null}', '{"stream":true,"stream_options":{"include_usage":true}}'],
    [
      '{"stream":true,"stream_options":{"a":{"include_usage":true},"include_usage" : false }}',
      '{"stream":true,"stream_options":{"a":{"include_usage":true},"include_usage" : true }}',
    ],
    ['{"\\u0073tream":true}', '{"stream_options":{"include_usage":true},"\\u0073tream":true}'],
    [
      '{"messages":[{"stream_options":{"include_usage":true}}],"x":"\\"stream_options\\":1","stream":true}',
      '{"stream_options":{"include_usage":true},"messages":[{"stream_options":{"include_usage":true}}],"x":"\\"stream_options\\":1","stream":true}',
    ],
  ])('%s', (body, edited) => {
    expect(edit(body)).toBe(edited);
  });

  it.each([
    ['not streamed', '{"model":"m"}'],
    ['stream false', '{"stream":false}'],
    ['stream not a boolean', '{"stream":"true"}'],
    ['nested only', '{"messages":[{"stream":true}]}'],
    ['usage already requested', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['stream twice', '{"stream":true,"stream":false}'],
    ['stream_options twice', '{"stream":true,"stream_options":{},"stream_options":{}}'],
    ['stream_options escaped twice', '{"stream":true,"stream_options":{},"stream\\u005foptions":{}}'],
    ['include_usage twice', '{"stream":true,"stream_options":{"include_usage":false,"include_usage":false}}'],
    ['wrong type', '{"stream":true,"stream_options":[]}'],
    ['wrong type inside', '{"stream":true,"stream_options":{"include_usage":1}}'],
    ['an array', '[{"stream":true}]'],
    ['cut off', '{"stream":true'],
    ['trailing comma', '{"stream":true,}'],
    ['two documents', '{"stream":true}{"stream":true}'],
    ['byte order mark', '\ufeff{"stream":true}'],
    ['empty', ''],
  ])('%s: stays unchanged', (_name, body) => {
    expect(edit(body)).toBeNull();
  });

  it('the edited body equals the original plus include_usage, for any body', () => {
    const members = fc.record(
      {
        model: fc.string(),
        messages: fc.array(fc.jsonValue()),
        stream_options: fc.oneof(
          fc.constant(null),
          fc.dictionary(fc.string(), fc.jsonValue()),
          fc.record({ include_usage: fc.constantFrom(false, null), include_obfuscation: fc.boolean() }),
        ),
        stream: fc.constant(true),
        other: fc.jsonValue(),
      },
      { requiredKeys: ['stream'] },
    );
    fc.assert(
      fc.property(members, fc.nat(4), (body, indent) => {
        const result = addIncludeUsage(Buffer.from(JSON.stringify(body, null, indent)));
        const meant = JSON.parse(JSON.stringify(body)) as typeof body; // without -0
        const options = { ...(meant.stream_options ?? {}), include_usage: true };
        expect(JSON.parse(String(result.edited))).toEqual({ ...meant, stream_options: options });
        expect(result.facts.streamed).toBe(true);
        expect(result.facts.model ?? '').toBe((body.model ?? '').slice(0, 256));
      }),
    );
  });

  it('applies only to chat completions in plain JSON', () => {
    const path = '/v1/chat/completions';
    expect(canRequestStreamUsage('POST', path, 'application/json', null)).toBe(true);
    expect(canRequestStreamUsage('POST', '//v1/chat%2Fcompletions/', 'application/json; charset=utf-8', null)).toBe(
      true,
    );
    expect(canRequestStreamUsage('GET', path, 'application/json', null)).toBe(false);
    expect(canRequestStreamUsage('POST', '/v1/responses', 'application/json', null)).toBe(false);
    expect(canRequestStreamUsage('POST', path, 'application/json', 'gzip')).toBe(false);
    expect(canRequestStreamUsage('POST', path, 'text/plain', null)).toBe(false);
  });
});
