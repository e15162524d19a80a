import { BookOpen, CircleHelp, CodeXml, LogOut, Mail, Menu as MenuIcon } from 'lucide-react'
import { useConfig } from '../../api/queries.ts'
import { ThemeToggle } from '../../components/ThemeToggle.tsx'
import { useSignOut } from '../../components/use-sign-out.ts'
import { IconButton } from '../../ui/Button.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { serverUrls } from '../../util/urls.ts'
import { FindButton } from './FindButton.tsx'
import './TopBar.css'

interface Props {
  drawerOpen: boolean
  onDrawer: () => void
  onFind: () => void
  crumbSlot: (element: HTMLElement | null) => void
}

export function TopBar({ drawerOpen, onDrawer, onFind, crumbSlot }: Props) {
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
        <FindButton onClick={onFind} />
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
  const signOut = useSignOut()
  return (
    <IconButton label="Sign out" icon={LogOut} busy={signOut.isPending} onClick={() => signOut.mutate()} />
  )
}
