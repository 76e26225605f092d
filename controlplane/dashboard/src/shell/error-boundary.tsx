/** Catches what a screen throws: the rest of the page stays. Another address is another try. */
import { Button, Group } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { Failure } from '../parts/failure.js';

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
    if (this.state.error === null) return this.props.children;
    return (
      <>
        <Failure error={this.state.error} />
        <Group mt="md">
          <Button variant="default" onClick={() => location.reload()}>
            Load the page again
          </Button>
        </Group>
      </>
    );
  }
}
