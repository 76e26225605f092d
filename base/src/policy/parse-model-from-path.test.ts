import { expect, test } from 'vitest';
import { parseModelFromPath } from './parse-model-from-path.js';

test.each([
  ['/openai/deployments/gpt-5/chat/completions', 'deployments', 'gpt-5'],
  ['/v1beta/models/gemini-3:generateContent', 'models', 'gemini-3'],
  ['/models/a%2Fb', 'models', null],
  ['/models/a%2562', 'models', null],
  ['/models/%ff', 'models', null],
  ['/models/', 'models', null],
  ['/models', 'models', null],
  ['/models/a/models/b', 'models', null],
])('reads from the path %s after the segment %s the model %s', (path, before, model) => {
  expect(parseModelFromPath(path, before)).toBe(model);
});
