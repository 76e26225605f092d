/** What the server has against a form: at the field that it names, or above the form. */
import { type ReactNode, useEffect, useRef } from 'react';
import { type FieldLabels, findFieldError } from '../../api/field-error.js';
import { ErrorAlert } from '../feedback/error-alert.js';

export interface FormErrors {
  /** To be given to the input of that field. */
  readonly fieldError: (field: string) => string | undefined;
  /** The same for an input of passwords: the kit's own does not tell those who cannot see it that it is wrong. */
  readonly secretFieldProps: (field: string) => { error?: string; 'aria-invalid'?: true };
  /** Stands first in the form: what no field is named for. */
  readonly formError: ReactNode;
}

/** `error` null: none yet, or not any more. */
export function formErrors(error: unknown, labels: FieldLabels): FormErrors {
  const named = findFieldError(error, labels);
  const at = (field: string): string | undefined => (named?.field === field ? named.text : undefined);
  const atSecret: FormErrors['secretFieldProps'] = (field) =>
    named?.field === field ? { error: named.text, 'aria-invalid': true } : {};
  if (error === null || error === undefined) return { fieldError: at, secretFieldProps: atSecret, formError: null };
  return {
    fieldError: at,
    secretFieldProps: atSecret,
    formError: <FormErrorAlert error={error} isFieldError={named !== null} />,
  };
}

interface FormErrorAlertProps {
  readonly error: unknown;
  /** The field says it. */
  readonly isFieldError: boolean;
}

/** Leads to what is wrong: somebody who has pressed the button at the end of a long form does not see its beginning. */
function FormErrorAlert({ error, isFieldError: isNamed }: FormErrorAlertProps) {
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
      {!isNamed && <ErrorAlert error={error} />}
    </div>
  );
}
