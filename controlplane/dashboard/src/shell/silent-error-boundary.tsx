/**
 * For optional parts of the page: renders nothing when their code fails to load. The page's banner reports the missing
 * part.
 */
import { Component, type ReactNode } from 'react';

interface SilentErrorBoundaryState {
  readonly missing: boolean;
}

export class SilentErrorBoundary extends Component<{ readonly children: ReactNode }, SilentErrorBoundaryState> {
  override state: SilentErrorBoundaryState = { missing: false };

  static getDerivedStateFromError(): SilentErrorBoundaryState {
    return { missing: true };
  }

  override render(): ReactNode {
    return this.state.missing ? null : this.props.children;
  }
}
