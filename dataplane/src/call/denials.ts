/** The answers to what a body says, or does not say clearly, about its model. */
import type { BodyProblem } from '../policy/body-models.js';
import type { CallRules } from '../policy/call-rules.js';
import { denied, REJECTIONS, type Rejection } from './rejections.js';

/** Null: every model may be used. */
export function modelRefusal(rules: CallRules, models: readonly string[]): Rejection | null {
  const { models: rule } = rules;
  if (rule === null) return null;
  for (const model of models) {
    if (!rule.passes(model)) return denied('model', model, 'The policy of this agent does not allow this model.');
  }
  return null;
}

export function bodyRefusal(problem: BodyProblem): Rejection {
  switch (problem) {
    case 'encoded':
      return REJECTIONS.contentEncoding;
    case 'media_type':
      return REJECTIONS.mediaType;
    case 'not_readable':
      return REJECTIONS.unreadableBody;
    case 'ambiguous':
      return denied('model', null, 'The body can be read in more than one way, so its model cannot be checked.');
    case 'unnamed':
      return denied('model', null, 'The body must name its model, once, as a string.');
  }
}
