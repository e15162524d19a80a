import { endpoints } from '@postern/contract/endpoints'
import { useMutation } from '@tanstack/react-query'
import { BookOpen, CircleHelp, CodeXml, LogOut, Mail, Menu as MenuIcon } from 'lucide-react'
import { useApi, useSession } from '../../api/context.ts'
import { useConfig } from '../../api/queries.ts'
import { ThemeToggle } from '../../components/ThemeToggle.tsx'
import { IconButton } from '../../ui/Button.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { serverUrls } from '../../util/urls.ts'
import './TopBar.css'

interface Props {
  drawerOpen: boolean
  onDrawer: () => void
  crumbSlot: (element: HTMLElement | null) => void
}

export function TopBar({ drawerOpen, onDrawer, crumbSlot }: Props) {
  const config = useConfig()
  const repository = config.data?.repositoryUrl
  return (
    <header className="bar">
      <IconButton
        className="drawer-only"
        label="Open menu"
        icon={MenuIcon}
        aria-controls="side"
        aria-expanded={drawerOpen}
        onClick={onDrawer}
      />
      <div className="crumb-slot" ref={crumbSlot} />
      <p className="crumbs host mono">{location.host}</p>
      <div className="bar-end">
        {repository && (
          <a
            className="btn ghost icon wide-only"
            href={repository}
            target="_blank"
            rel="noreferrer"
            aria-label="Source repository"
            title="Source repository"
          >
            <CodeXml className="ic" />
          </a>
        )}
        <HelpMenu contactUrl={config.data?.contactUrl} />
        <ThemeToggle />
        <SignOut />
      </div>
    </header>
  )
}

function HelpMenu({ contactUrl }: { contactUrl: string | null | undefined }) {
  const contact = contactUrl ? [{ text: 'Contact us', icon: Mail, href: contactUrl }] : []
  return (
    <Menu
      label="Help"
      icon={CircleHelp}
      className="wide-only"
      groups={[[{ text: 'Documentation', icon: BookOpen, href: serverUrls.docs() }, ...contact]]}
    />
  )
}

function SignOut() {
  const api = useApi()
  const session = useSession()
  const signOut = useMutation({
    mutationFn: () => api.call(endpoints.logout, {}),
    // Also when the server could not be told: this browser must forget the token in any case.
    onSettled: () => session.end(),
    onError: (error) => console.error('The server could not be told about the sign-out', error),
  })
  return (
    <IconButton label="Sign out" icon={LogOut} busy={signOut.isPending} onClick={() => signOut.mutate()} />
  )
}
