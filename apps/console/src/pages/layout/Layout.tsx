import { type ReactNode, useEffect, useRef, useState } from 'react'
import { ScrollRestoration, useLocation } from 'react-router'
import { CrumbSlot } from '../../components/Crumbs.tsx'
import { usePreload } from '../../hooks/use-preload.ts'
import { useSidebarExpanded } from '../../stores/sidebar.ts'
import { confirmStore } from '../../ui/confirm.ts'
import { PlatformBanners } from './PlatformBanners.tsx'
import { Sidebar } from './Sidebar.tsx'
import { TopBar } from './TopBar.tsx'
import { useDrawer } from './use-drawer.ts'

/** Sidebar, top bar and the page between them. */
export function Layout({ children }: { children: ReactNode }) {
  const [expanded, setExpanded] = useSidebarExpanded()
  const [slot, setSlot] = useState<HTMLElement | null>(null)
  const drawer = useDrawer()
  useFocusOnNavigation()
  useQuestionsEndWithPage()
  usePreload()
  return (
    <CrumbSlot value={slot}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div
        className="shell"
        data-sidebar={expanded ? 'expanded' : 'collapsed'}
        data-drawer={drawer.isOpen ? 'open' : undefined}
      >
        <Sidebar expanded={expanded} onExpandedChange={setExpanded} />
        {/* The key for closing is Escape; this is only the pointer's way. */}
        <div className="drawer-scrim" onPointerDown={drawer.close} />
        <div className="col" inert={drawer.isOpen}>
          <TopBar drawerOpen={drawer.isOpen} onDrawer={drawer.open} crumbSlot={setSlot} />
          <PlatformBanners />
          {children}
        </div>
      </div>
      <ScrollRestoration />
    </CrumbSlot>
  )
}

/** A question is about the page under it: Back or the end of the session answer it with no. */
function useQuestionsEndWithPage(): void {
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path is what ends them
  useEffect(() => () => confirmStore.get()?.answer(false), [pathname])
}

/** After a click on a link the keyboard and a screen reader start at the new page, not at the top. */
function useFocusOnNavigation(): void {
  const { pathname } = useLocation()
  const last = useRef(pathname)
  useEffect(() => {
    if (last.current === pathname) return
    last.current = pathname
    document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true })
  }, [pathname])
}
