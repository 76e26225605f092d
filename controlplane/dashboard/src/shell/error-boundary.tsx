/** Catches what a screen throws: the rest of the page stays. Another address is another try. */
import { Button, Group } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { ErrorAlert } from '../components/feedback/error-alert.js';

const SCREEN_LOAD_ERROR = new Error(
  'This screen could not be loaded. Load the page again; if that does not help, try it later.',
);

/** A file of the screen did not come: browsers have words of their own for it. */
const isModuleLoadError = (error: unknown): boolean => error instanceof TypeError && /module/i.test(error.message);

interface ErrorBoundaryProps {
  /** When it changes, the screen is tried again. */
  readonly resetKey: string;
  readonly children: ReactNode;
}

interface ErrorBoundaryState {
  readonly error: unknown;
  readonly resetKey: string;
}

export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { error: null, resetKey: this.props.resetKey };

  static getDerivedStateFromError(error: unknown): Partial<ErrorBoundaryState> {
    return { error };
  }

  static getDerivedStateFromProps(props: ErrorBoundaryProps, state: ErrorBoundaryState): ErrorBoundaryState | null {
    return props.resetKey === state.resetKey ? null : { error: null, resetKey: props.resetKey };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <>
        <ErrorAlert error={isModuleLoadError(error) ? SCREEN_LOAD_ERROR : error} />
        <Group mt="md">
          <Button variant="default" onClick={() => location.reload()}>
            Load the page again
          </Button>
        </Group>
      </>
    );
  }
}
