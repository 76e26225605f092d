/** Rejections for what a body says, or does not say clearly, about its model. */

import type { CallRules } from '@acg/base/policy/call-rules';
import type { BodyProblem } from '../policy/body/body-model-reader.js';
import { createForbiddenRejection, REJECTIONS, type Rejection } from './rejections.js';

/** Null: every listed model is allowed. */
export function checkModelsAllowed(rules: CallRules, models: readonly string[]): Rejection | null {
  const { models: rule } = rules;
  if (rule === null) return null;
  for (const model of models) {
    if (!rule.allows(model))
      return createForbiddenRejection('model', model, 'The policy of this agent does not allow this model.');
  }
  return null;
}

export function createBodyProblemRejection(problem: BodyProblem): Rejection {
  switch (problem) {
    case 'encoded':
      return REJECTIONS.unsupportedContentEncoding;
    case 'media_type':
      return REJECTIONS.unsupportedMediaType;
    case 'not_readable':
      return REJECTIONS.unreadableBody;
    case 'ambiguous':
      return createForbiddenRejection(
        'model',
        null,
        'The body is ambiguous, so its model cannot be checked. Send each field once.',
      );
    case 'unnamed':
      return createForbiddenRejection('model', null, 'The body must name its model, once, as a string.');
  }
}
