/** Usage of assistant and evaluation runs is recorded once, when a response shows that the run has ended. */
import { expect, test } from 'vitest';
import { createMeter } from './create-meter.js';
import type { DeferredUsageReading, MeterOptions } from './reading/response-usage-meter-interface.js';

function read(method: string, path: string, body: string, contentType = 'application/json') {
  const lines: DeferredUsageReading[] = [];
  const options: MeterOptions = {
    usageFormat: 'openai',
    method,
    path,
    requestBytes: 400,
    requestBlobBytes: 0,
    requestModel: null,
    requestItemCount: 0,
    requestedOutput: null,
    status: 200,
    contentType,
    contentEncoding: null,
    responseHeaders: [],
    tokensOutMax: null,
    onDeferredUsage: (line) => lines.push(line),
  };
  const meter = createMeter(options);
  meter.observe(Buffer.from(body));
  const reading = meter.finish(true);
  // The call's own reading contains none of it.
  expect([reading.tokensInUncached, reading.tokensOut]).toEqual([0, 0]);
  return lines.map(({ sourceId, lineId, reading: { model, tokensInUncached, tokensCacheRead, tokensOut } }) => [
    sourceId,
    lineId,
    model,
    tokensInUncached,
    tokensCacheRead,
    tokensOut,
  ]);
}

const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 30 },
};
const run = (status: string, usage: object | null, id = 'run_1'): string =>
  JSON.stringify({ id, object: 'thread.run', status, model: 'gpt-4o', usage });
const RECORDED = [['run_1', '', 'gpt-4o', 70, 30, 20]];
const RUN = '/v1/threads/thread_1/runs/run_1';

test('runs: records an ended run by its id when it is fetched', () => {
  expect(read('GET', RUN, run('completed', USAGE))).toEqual(RECORDED);
  expect(read('GET', `${RUN}/`, run('incomplete', USAGE))).toEqual(RECORDED);
});

test.each([
  ['an unfinished run', RUN, run('in_progress', null)],
  ['a run with intermediate usage', RUN, run('in_progress', USAGE)],
  [
    'a list of runs',
    '/v1/threads/thread_1/runs',
    JSON.stringify({ object: 'list', data: [JSON.parse(run('completed', USAGE))] }),
  ],
  ['a step of a run', `${RUN}/steps/step_1`, run('completed', USAGE, 'step_1')],
])('runs: records nothing for %s', (_what, path, body) => {
  expect(read('GET', path, body)).toEqual([]);
});

test('runs: records a stream by the run, not by its steps', () => {
  const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;
  const stream =
    event('thread.run.created', run('queued', null)) +
    event('thread.message.delta', '{"id":"msg_1","object":"thread.message.delta","delta":{}}') +
    event('thread.run.step.completed', run('completed', USAGE, 'step_1')) +
    event('thread.run.completed', run('completed', USAGE)) +
    event('done', '[DONE]');
  for (const path of ['/v1/threads/runs', '/v1/threads/thread_1/runs', `${RUN}/submit_tool_outputs`]) {
    expect(read('POST', path, stream, 'text/event-stream')).toEqual(RECORDED);
  }
  const cut = stream.slice(0, stream.indexOf('event: thread.run.completed'));
  expect(read('POST', '/v1/threads/runs', cut, 'text/event-stream')).toEqual([]);
});

test('runs: records an evaluation by model', () => {
  const used = (model_name: string, more: object) => ({ model_name, invocation_count: 2, total_tokens: 0, ...more });
  const body = (status: string): string =>
    JSON.stringify({
      object: 'eval.run',
      id: 'evalrun_1',
      status,
      per_model_usage: [
        used('gpt-4o', { prompt_tokens: 500, cached_tokens: 100, completion_tokens: 9 }),
        used('o3', { prompt_tokens: 7, cached_tokens: 0, completion_tokens: 1 }),
      ],
    });
  const path = '/v1/evals/eval_1/runs/evalrun_1';
  expect(read('GET', path, body('completed'))).toEqual([
    ['evalrun_1', 'gpt-4o', 'gpt-4o', 400, 100, 9],
    ['evalrun_1', 'o3', 'o3', 7, 0, 1],
  ]);
  expect(read('GET', path, body('in_progress'))).toEqual([]);
});
