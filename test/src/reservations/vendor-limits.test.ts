/**
 * The rules of the limits table give the results of the examples in the vendors' pages, and of published measurements.
 */
import { expect, test } from 'vitest';
import { audioSeconds, maxPromptTokens } from './max-prompt-tokens.js';
import { createFlac, createPdf, createPng, createWav } from './sample-files.js';
import { ANTHROPIC_MESSAGES, imageOutputTokens, OPENAI_CHAT } from './vendor-limits.js';

test.each([
  ['gpt-4o', 1_024, 1_024, undefined, 765],
  ['gpt-4o', 2_048, 4_096, undefined, 1_105],
  ['gpt-4o', 4_096, 8_192, 'low', 85],
  ['gpt-4o-mini', 2_048, 4_096, undefined, 36_835],
  ['o4-mini', 1_024, 1_024, undefined, 1_762],
  ['gpt-5.5', 3_840, 2_160, undefined, 9_792],
  ['gpt-5.5', 4_032, 3_024, undefined, 12_000],
  ['gpt-6.1-sol', 4_032, 3_024, undefined, 14_364],
] as const)(
  'vendor limits: tokens of a picture for %s of %i x %i px, detail %s',
  (model, width, height, detail, tokens) => {
    const url = `data:image/png;base64,${createPng(width, height).toString('base64')}`;
    const content = [{ type: 'image_url', image_url: { url, ...(detail && { detail }) } }];
    const body = { messages: [{ role: 'user', content }] };
    expect(maxPromptTokens('openai', '/v1/chat/completions', body, OPENAI_CHAT[model]!).image).toBe(tokens);
  },
);

test.each([
  ['claude-opus-5-5', 1_000, 1_000, 1_296],
  ['claude-opus-5-5', 1_920, 1_080, 2_691],
  ['claude-opus-5-5', 8_000, 8_000, 4_784],
  ['claude-haiku-4-5', 8_000, 8_000, 1_568],
] as const)('limits: a picture for %s of %i x %i px', (model, width, height, tokens) => {
  const source = { type: 'base64', media_type: 'image/png', data: createPng(width, height).toString('base64') };
  const nested = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] };
  const body = { messages: [{ role: 'user', content: [nested] }] };
  expect(maxPromptTokens('anthropic', '/v1/messages', body, ANTHROPIC_MESSAGES[model]!).image).toBe(tokens);
});

test.each([
  [1_024, 1_024, 7_024],
  [1_536, 1_024, 5_488],
  [3_584, 2_048, 12_329],
])('vendor limits: tokens of a %i x %i px image by gpt-image-2', (width, height, tokens) => {
  expect(imageOutputTokens(width, height)).toBe(tokens);
});

test('vendor limits: each page of a PDF costs its picture and all of its text, compressed or not', () => {
  const usage = [true, false].map((packed) => {
    const source = {
      type: 'base64',
      media_type: 'application/pdf',
      data: createPdf(10, 300, packed).toString('base64'),
    };
    const body = { messages: [{ role: 'user', content: [{ type: 'document', source }] }] };
    return maxPromptTokens('anthropic', '/v1/messages', body, ANTHROPIC_MESSAGES['claude-opus-5-5']!);
  });
  expect(usage[0]).toEqual(usage[1]);
  expect(usage[0]).toMatchObject({ image: 10 * 4_784 });
  expect(usage[0]!.text).toBeGreaterThan(10 * 1_500);
});

test('vendor limits: reads the length of audio from its file', () => {
  expect([audioSeconds(createWav(3)), audioSeconds(createFlac(3_600))]).toEqual([3, 3_601]);
  expect(createFlac(3_600).length).toBeLessThan(100_000);
});
