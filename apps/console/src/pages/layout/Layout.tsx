import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Outlet, useLocation } from 'react-router'
import { useSession } from '../../api/context.ts'
import { useHints } from '../../api/use-hints.ts'
import { RefusedHost } from '../../components/many/RefusedHost.tsx'
import { CrumbSlot } from '../../components/Page.tsx'
import type { Opened } from '../../components/palette/PaletteLayer.tsx'
import { loadForms } from '../../forms/dialogs.ts'
import { useSidebarExpanded } from '../../stores/preference.ts'
import { ConfirmHost, loadConfirm } from '../../ui/overlay/ConfirmHost.tsx'
import { confirmStore } from '../../ui/overlay/confirm.ts'
import { loadMenus } from '../../ui/overlay/Menu.tsx'
import { loadTooltips } from '../../ui/overlay/Tooltip.tsx'
import { PRELOAD_DELAY } from '../../util/constants.ts'
import { DraftHost } from './DraftHost.tsx'
import { loadPalette, PaletteHost } from './PaletteHost.tsx'
import { PendingHost } from './PendingHost.tsx'
import { PlatformBanners } from './PlatformBanners.tsx'
import { Sidebar } from './Sidebar.tsx'
import { TopBar } from './TopBar.tsx'
import { useHeadingFocus } from './use-heading-focus.ts'
import { useScroll } from './use-scroll.ts'
import { useShortcuts } from './use-shortcuts.ts'
import './Layout.css'

/** Sidebar, top bar and the page between them. */
export function Layout({ children }: { children: ReactNode }) {
  const [expanded, setExpanded] = useSidebarExpanded()
  const [slot, setSlot] = useState<HTMLElement | null>(null)
  const drawer = useDrawer()
  const hints = useHints()
  const [opened, setOpened] = useState<Opened>(null)
  useShortcuts(setOpened)
  useHeadingFocus()
  useScroll()
  useCancelConfirmOnLeave()
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
        <Sidebar expanded={expanded} onExpandedChange={setExpanded} hints={hints} />
        {/* Escape closes it too; this is for the pointer. */}
        <div className="drawer-scrim" onPointerDown={drawer.close} />
        <div className="col" inert={drawer.isOpen}>
          <TopBar
            drawerOpen={drawer.isOpen}
            onDrawer={drawer.open}
            onFind={() => setOpened('palette')}
            crumbSlot={setSlot}
          />
          <PlatformBanners hints={hints} />
          <PendingHost isLive={hints === 'live'} />
          {children}
        </div>
      </div>
      <DraftHost />
      <PaletteHost opened={opened} onOpen={setOpened} />
      <RefusedHost />
      <ConfirmHost />
    </CrumbSlot>
  )
}

/** A confirmation belongs to its page: Back or the end of the session cancels it. */
function useCancelConfirmOnLeave(): void {
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path is what ends them
  useEffect(() => () => confirmStore.get()?.answer(false), [pathname])
}

/**
 * The shell around the pages, except for the not-found page without a session. Loaded data is dropped with the
 * session.
 */
export function SessionFrame() {
  const session = useSession()
  const [queries] = useState(createQueries)
  if (session.token() === null) return <Outlet />
  return (
    <QueryClientProvider client={queries}>
      <Layout>
        <Outlet />
      </Layout>
    </QueryClientProvider>
  )
}

/** Around a page for people who are signed in but may not go on yet. */
export function BareFrame({ children }: { children: ReactNode }) {
  const [queries] = useState(createQueries)
  return (
    <QueryClientProvider client={queries}>
      {children}
      <ConfirmHost />
    </QueryClientProvider>
  )
}

function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: { queries: { retry: false } },
    queryCache: new QueryCache({
      onError: (error, { queryKey }) =>
        console.error(`Failed to load ${queryKey[0]}: ${error.message}`, error),
    }),
  })
}

/** The sidebar as a drawer on narrow screens: it closes on Escape, a click outside and a new page. */
function useDrawer() {
  const { key } = useLocation()
  const [openAt, setOpenAt] = useState<string | null>(null)
  const isOpen = openAt === key
  useEffect(() => {
    if (!isOpen) return
    const trigger = document.activeElement
    document.querySelector<HTMLElement>('#side a')?.focus()
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && setOpenAt(null)
    // A screen that grows shows the sidebar again in its own place.
    const wide = window.matchMedia('(min-width: 901px)')
    const onWide = () => setOpenAt(null)
    window.addEventListener('keydown', onKey)
    wide.addEventListener('change', onWide)
    return () => {
      window.removeEventListener('keydown', onKey)
      wide.removeEventListener('change', onWide)
      if (trigger instanceof HTMLElement) requestAnimationFrame(() => trigger.focus())
    }
  }, [isOpen])
  return { isOpen, open: () => setOpenAt(key), close: () => setOpenAt(null) }
}

/**
 * Loads the parts that are likely to be opened next once the page is drawn, so that they open at once, even while the
 * server is down.
 */
function usePreload(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      Promise.all([loadMenus(), loadTooltips(), loadConfirm(), loadForms(), loadPalette()]).catch(
        (error: unknown) => console.warn('Menus and forms could not be loaded yet', error),
      )
    }, PRELOAD_DELAY)
    return () => clearTimeout(timer)
  }, [])
}
