/** What the page can do without: where its file does not come, the rest stays. The banner says that a part is missing. */
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
