/** Shows errors of the server at the field that they name, or above the form. */
import { type ReactNode, useEffect, useRef } from 'react';
import { type FieldLabels, findFieldError } from '../../api/field-error.js';
import { ErrorAlert } from '../feedback/error-alert.js';

export interface FormErrors {
  /** Error text for the input of that field. */
  readonly fieldError: (field: string) => string | undefined;
  /** The same for password inputs: the UI library's password input does not set `aria-invalid` itself. */
  readonly secretFieldProps: (field: string) => { error?: string; 'aria-invalid'?: true };
  /** Error that names no field; rendered first in the form. */
  readonly formError: ReactNode;
}

/** `error` null: no error. */
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
  /** The error is shown at a field. */
  readonly isFieldError: boolean;
}

/** Scrolls to the error, because the button of a long form may be far from it. */
function FormErrorAlert({ error, isFieldError }: FormErrorAlertProps) {
  const place = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new error scrolls to the field again
  useEffect(() => {
    const form = place.current?.closest('form');
    const field = isFieldError ? form?.querySelector<HTMLElement>('[aria-invalid="true"]') : place.current;
    // A select opens its list on focus and would cover the error text, so it is only scrolled into view.
    if (!isFieldError || field?.ariaHasPopup === 'listbox') field?.scrollIntoView({ block: 'nearest' });
    else field?.focus();
  }, [error, isFieldError]);
  return (
    <div ref={place} hidden={isFieldError}>
      {!isFieldError && <ErrorAlert error={error} />}
    </div>
  );
}
