import { expect, test } from 'vitest';
import { parseModelFromPath } from './parse-model-from-path.js';

test.each([
  ['/openai/deployments/gpt-5/chat/completions', 'path:deployments', 'gpt-5'],
  ['/v1beta/models/gemini-3:generateContent', 'path_before_colon:models', 'gemini-3'],
  ['/v1beta/models/gemini-3%3AgenerateContent', 'path_before_colon:models', 'gemini-3'],
  ['/models/a:b:predict', 'path_before_colon:models', 'a:b'],
  ['/models/gemini-3', 'path_before_colon:models', 'gemini-3'],
  ['/models/:predict', 'path_before_colon:models', null],
  ['/model/amazon.nova-pro-v1:0/converse', 'path:model', 'amazon.nova-pro-v1:0'],
  ['/model/us.anthropic.claude-x-v1%3A0/invoke', 'path:model', 'us.anthropic.claude-x-v1:0'],
  [
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123%3Ainference-profile%2Fus.anthropic.claude-x-v1%3A0/converse',
    'path:model',
    'us.anthropic.claude-x-v1:0',
  ],
  [
    '/model/arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model%2Famazon.nova-pro-v1:0/converse',
    'path:model',
    'amazon.nova-pro-v1:0',
  ],
  [
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123%3Aapplication-inference-profile%2Fabc/converse',
    'path:model',
    'arn:aws:bedrock:us-east-1:123:application-inference-profile/abc',
  ],
  ['/models/a%2Fb', 'path:models', null],
  ['/models/a%2562', 'path:models', null],
  ['/models/%ff', 'path:models', null],
  ['/models/', 'path:models', null],
  ['/models', 'path:models', null],
  ['/models/a/models/b', 'path:models', null],
])('reads from the path %s at %s the model %s', (path, location, model) => {
  expect(parseModelFromPath(path, location)).toBe(model);
});
