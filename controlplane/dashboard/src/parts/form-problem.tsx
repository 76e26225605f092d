/** What the server has against a form: at the field that it names, or above the form. */
import { type ReactNode, useEffect, useRef } from 'react';
import { fieldProblem, type Labels } from '../api/field-problem.js';
import { Failure } from './failure.js';

export interface FormProblem {
  /** To be given to the input of that field. */
  readonly at: (field: string) => string | undefined;
  /** The same for an input of passwords: the kit's own does not tell those who cannot see it that it is wrong. */
  readonly atSecret: (field: string) => { error?: string; 'aria-invalid'?: true };
  /** Stands first in the form: what no field is named for. */
  readonly above: ReactNode;
}

/** `error` null: none yet, or not any more. */
export function formProblem(error: unknown, labels: Labels): FormProblem {
  const named = fieldProblem(error, labels);
  const at = (field: string): string | undefined => (named?.field === field ? named.text : undefined);
  const atSecret: FormProblem['atSecret'] = (field) =>
    named?.field === field ? { error: named.text, 'aria-invalid': true } : {};
  if (error === null || error === undefined) return { at, atSecret, above: null };
  return { at, atSecret, above: <Above error={error} isNamed={named !== null} /> };
}

interface AboveProps {
  readonly error: unknown;
  /** The field says it. */
  readonly isNamed: boolean;
}

/** Leads to what is wrong: somebody who has pressed the button at the end of a long form does not see its beginning. */
function Above({ error, isNamed }: AboveProps) {
  const place = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a further refusal leads there again
  useEffect(() => {
    const form = place.current?.closest('form');
    const field = isNamed ? form?.querySelector<HTMLElement>('[aria-invalid="true"]') : place.current;
    // A choice opens its list when it gets the focus, over the very words that say what is wrong.
    if (!isNamed || field?.ariaHasPopup === 'listbox') field?.scrollIntoView({ block: 'nearest' });
    else field?.focus();
  }, [error, isNamed]);
  return (
    <div ref={place} hidden={isNamed}>
      {!isNamed && <Failure error={error} />}
    </div>
  );
}
