import { expect, test } from 'vitest';
import { holdFacts } from './hold-facts.js';

const of = (body: object) => holdFacts(Buffer.from(JSON.stringify(body)));

test.each([
  [{ max_tokens: 5 }, { outputTokensMax: 5, answers: 1 }],
  [
    { max_completion_tokens: 7, n: 3 },
    { outputTokensMax: 7, answers: 3 },
  ],
  [{ max_output_tokens: 0 }, { outputTokensMax: 0 }],
  [{ max_tokens: null }, { outputTokensMax: null }],
  [{}, { outputTokensMax: null, answers: 1, background: false, refers: false, fast: false }],
  [{ background: true }, { background: true }],
  [{ background: false }, { background: false }],
  [{ service_tier: 'priority' }, { fast: true }],
  [{ previous_response_id: 'resp_1' }, { refers: true }],
  [{ messages: [{ content: [{ image_url: { url: 'https://a/b.png' } }] }] }, { refers: true }],
  [{ messages: [{ content: [{ image_url: { url: 'data:image/png;base64,AA' } }] }] }, { refers: false }],
  [{ input: [{ content: [{ file_id: 'file_1' }] }] }, { refers: true }],
])('hold facts: %j', (body, facts) => {
  expect(of(body)).toMatchObject(facts);
});

test.each([
  [{ max_tokens: 5, max_completion_tokens: 5 }],
  [{ max_tokens: '5' }],
  [{ max_tokens: 5.5 }],
  [{ max_tokens: -1 }],
  [{ n: '2' }],
])('hold facts: %j states no clear maximum', (body) => {
  expect(of(body)).toBeNull();
});
