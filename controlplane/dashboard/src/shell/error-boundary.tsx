/** Catches errors of a screen, so that the layout stays. A new address renders the screen again. */
import { Button, Group } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { ErrorAlert } from '../components/feedback/error-alert.js';

const SCREEN_LOAD_ERROR = new Error(
  'This screen could not be loaded. Reload the page. If that does not help, try again later.',
);

/** A module of the screen failed to load; the message differs by browser. */
const isModuleLoadError = (error: unknown): boolean => error instanceof TypeError && /module/i.test(error.message);

interface ErrorBoundaryProps {
  /** A change of this value renders the children again. */
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
            Reload page
          </Button>
        </Group>
      </>
    );
  }
}
