import type { Config } from '@postern/contract/config'
import { BookOpen, CircleHelp, CodeXml, Heart, LogOut, Mail, Menu as MenuIcon, UserRound } from 'lucide-react'
import { useConfig } from '../../api/queries.ts'
import { RouteIcon } from '../../components/RouteIcon.tsx'
import { ThemeToggle } from '../../components/ThemeToggle.tsx'
import { useSignOut } from '../../components/use-sign-out.ts'
import { IconButton, IconLink } from '../../ui/Button.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { contactUrl, serverUrls, urls } from '../../util/urls.ts'
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
          <IconLink className="wide-only" label="Source repository" icon={CodeXml} href={repository} />
        )}
        <HelpMenu config={config.data} />
        <ThemeToggle />
        <RouteIcon className="wide-only" label="Your account" icon={UserRound} to={urls.account()} />
        <SignOut />
      </div>
    </header>
  )
}

function HelpMenu({ config }: { config: Config | undefined }) {
  const sponsor = config?.sponsorUrl ? [{ text: 'Sponsor', icon: Heart, href: config.sponsorUrl }] : []
  return (
    <Menu
      label="Help"
      icon={CircleHelp}
      className="wide-only"
      groups={[
        [
          { text: 'Documentation', icon: BookOpen, href: serverUrls.docs() },
          { text: 'Contact us', icon: Mail, href: contactUrl(config) },
        ],
        sponsor,
      ]}
    />
  )
}

function SignOut() {
  const signOut = useSignOut()
  return (
    <IconButton label="Sign out" icon={LogOut} busy={signOut.isPending} onClick={() => signOut.mutate()} />
  )
}
