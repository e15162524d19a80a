import { Component, type ReactNode, Suspense } from 'react'

interface Props {
  /** What this is without which the page still works. */
  name: string
  onError?: () => void
  children: ReactNode
}

/** Something that is loaded later: when that fails, or it breaks, the page around it stays. */
export class Optional extends Component<Props, { isBroken: boolean }> {
  override state = { isBroken: false }

  static getDerivedStateFromError() {
    return { isBroken: true }
  }

  override componentDidCatch(error: unknown): void {
    console.error(`${this.props.name} could not be shown`, error)
    this.props.onError?.()
  }

  override render(): ReactNode {
    return this.state.isBroken ? null : <Suspense>{this.props.children}</Suspense>
  }
}
