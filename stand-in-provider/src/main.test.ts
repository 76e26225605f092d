import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const SETTINGS = new URL('../../deploy/stand-in-providers.json', import.meta.url);

const HELLO = JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Say hello' }] });

async function chat(origin: string, key: string, body = HELLO): Promise<Response> {
  return fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  });
}

test('stand-in provider: answers the key of the quickstart, rejects others, and reports a port in use', async () => {
  const { openai } = JSON.parse(readFileSync(SETTINGS, 'utf8')) as {
    openai: { standInCredentials: { apiKey: string } };
  };
  const running = spawn(process.execPath, [MAIN, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(running.stdout, 'data')) as [Buffer];
    const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(line.toString())![0];
    const answer = await chat(origin, openai.standInCredentials.apiKey);
    expect(await answer.json()).toMatchObject({ object: 'chat.completion', usage: { total_tokens: 29 } });
    expect((await chat(origin, 'sk-other')).status).toBe(401);
    for (const body of ['', '{"model": ', 'null', '[]']) {
      const rejection = await chat(origin, openai.standInCredentials.apiKey, body);
      expect([body, rejection.status]).toEqual([body, 400]);
      expect(await rejection.json()).toMatchObject({
        error: { type: 'invalid_request_error', param: null, code: null },
      });
    }
    const second = spawn(process.execPath, [MAIN, new URL(origin).port], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [message] = (await once(second.stderr, 'data')) as [Buffer];
    expect(message.toString()).toContain('choose another port');
    expect(await once(second, 'exit')).toEqual([69, null]);
  } finally {
    running.kill();
  }
});
