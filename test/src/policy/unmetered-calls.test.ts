/** Calls whose cost no response states, from the built-in providers' lists as data planes match them. */

import { hasUnreportedCost, locateCallModel } from '@acg/base/policy/call-rules';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { applyModelPreset } from '@acg/controlplane/providers/catalogue/model-presets';
import { createUpstream } from '@acg/dataplane/call/testing/proxy-fixture';
import { expect, test } from 'vitest';

const catalogue = new Catalogue();

function isUnmeteredCall(slug: string, line: string, custom = false): boolean {
  const [method, path] = line.split(' ') as [string, string];
  const usageFormat = slug as 'openai' | 'anthropic';
  const modelCalls = custom ? applyModelPreset(usageFormat, catalogue.presetCalls) : catalogue.get(slug)!.modelCalls;
  return hasUnreportedCost(
    createUpstream('https://x', { usageFormat, modelCalls, isCustom: custom }),
    method,
    path,
    true,
  );
}

const COSTLY_CALLS = [
  ['openai', 'POST /v1/threads/runs'],
  ['openai', 'POST /v1/threads/thread_1/runs'],
  ['openai', 'POST /v1/threads/thread_1/runs/run_1/submit_tool_outputs'],
  ['openai', 'POST /v1/evals/eval_1/runs'],
  ['openai', 'POST /v1/fine_tuning/jobs'],
  ['openai', 'POST /v1/fine_tuning/jobs/ft_1/resume'],
  ['openai', 'POST /v1/fine_tuning/alpha/graders/run'],
  ['anthropic', 'POST /v1/sessions'],
  ['anthropic', 'POST /v1/sessions/sess_1/events'],
] as const;

test.each(COSTLY_CALLS)('unmetered calls: %s %s', (slug, line) => {
  expect(isUnmeteredCall(slug, line)).toBe(true);
  expect(isUnmeteredCall(slug, line, true)).toBe(true);
  expect(isUnmeteredCall(slug, line.replace('POST', 'GET'))).toBe(false);
});

test.each([
  ['openai', 'POST /v1/something/new'],
  ['openai', 'POST /v1/Threads//runs'],
  ['anthropic', 'PUT /v1/something'],
])('unmetered calls: an unknown call of a built-in provider: %s %s', (slug, line) => {
  expect(isUnmeteredCall(slug, line)).toBe(true);
  expect(isUnmeteredCall(slug, line, true)).toBe(false);
});

test.each([
  ['openai', 'POST /v1/chat/completions'],
  ['openai', 'POST /v1/responses'],
  ['openai', 'POST /v1/embeddings'],
  ['openai', 'POST /v1/audio/transcriptions'],
  ['openai', 'POST /v1/batches'],
  ['openai', 'POST /v1/files'],
  ['openai', 'POST /v1/videos/video_1/remix'],
  ['openai', 'POST /v1/threads'],
  ['openai', 'POST /v1/threads/thread_1/messages'],
  ['openai', 'POST /v1/threads/thread_1/runs/run_1/cancel'],
  ['openai', 'POST /v1/assistants'],
  ['openai', 'POST /v1/evals'],
  ['openai', 'POST /v1/vector_stores/vs_1/search'],
  ['openai', 'POST /v1/chat/completions/chatcmpl_1'],
  ['anthropic', 'POST /v1/messages'],
  ['anthropic', 'POST /v1/messages/count_tokens'],
  ['anthropic', 'POST /v1/messages/batches'],
  ['anthropic', 'POST /v1/files'],
])('unmetered calls: metered or free: %s %s', (slug, line) => {
  expect(isUnmeteredCall(slug, line)).toBe(false);
});

test('unmetered calls: calls metered by their response name no model that a policy or a hard budget could read', () => {
  const upstream = createUpstream('https://x', { modelCalls: catalogue.get('openai')!.modelCalls });
  const places = ['/v1/batches', '/v1/videos/v/remix', '/v1/threads/runs', '/v1/threads/t', '/v1/fine_tuning/jobs'];
  expect(places.map((path) => locateCallModel(upstream, 'POST', path))).toEqual([
    'answer',
    'answer',
    'unknown',
    'answer',
    'unknown',
  ]);
});

test('unmetered calls: no spelling of a call of an agent of Mistral is free', () => {
  const upstream = createUpstream('https://x', { modelCalls: catalogue.get('mistral')!.modelCalls });
  const paths = ['/v1/agents/completions', '/v1/agents/completions/', '/v1/agents//completions', '/v1/agents'];
  expect(paths.map((path) => locateCallModel(upstream, 'POST', path))).toEqual(['answer', 'answer', 'answer', 'free']);
});

/** Formats are chosen by path, so a path in another spelling has none. */
test.each([
  ['bedrock', '//model/amazon.nova-pro-v1:0/converse'],
  ['bedrock', '/async-invoke'],
  ['cohere', '//v2/chat'],
  ['fireworks', '/inference//v1/chat/completions'],
  ['gemini', '/v1beta/interactions'],
  ['gemini', '/v1beta/fileSearchStores'],
  ['moonshot', '//v1/chat/completions'],
  ['openrouter', '//api/v1/chat/completions'],
  ['vertex', '/v1/projects/p/locations/l/reasoningEngines/r:query'],
  ['vertex', '/v1/projects/p/locations/l/publishers/ai21/models/jamba:rawPredict'],
])('unmetered calls: %s %s has no usage format', (slug, path) => {
  const upstream = createUpstream('https://x', { modelCalls: catalogue.get(slug)!.modelCalls });
  expect(hasUnreportedCost(upstream, 'POST', path, false)).toBe(true);
});
