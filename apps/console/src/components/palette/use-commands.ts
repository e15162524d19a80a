import { edges } from '@postern/contract/endpoints/edges'
import {
  Bell,
  Blocks,
  BookOpen,
  CircleAlert,
  FileClock,
  Globe,
  History,
  House,
  Keyboard,
  LogOut,
  Monitor,
  Moon,
  Plus,
  Server,
  Settings,
  Sun,
  UserRound,
  Users,
  Waypoints,
  Workflow,
} from 'lucide-react'
import { useNavigate } from 'react-router'
import { useRules } from '../../api/rules.ts'
import { useScheme } from '../../stores/preference.ts'
import { serverUrls, urls } from '../../util/urls.ts'
import { useSignOut } from '../use-sign-out.ts'
import type { Doors } from './acts.ts'
import type { Entry } from './entries.ts'

const NEW_NODE = {
  id: 'add-node',
  group: 'Create',
  icon: Plus,
  text: 'Add Client',
  words: 'new node gateway',
}
const NEW_EDGE = { id: 'add-edge', group: 'Create', icon: Plus, text: 'Add Edge', words: 'new machine join' }
const NEW_DOMAIN = { id: 'add-domain', group: 'Create', icon: Plus, text: 'Add Domain', words: 'new' }

const EDGES_WORDS = 'machines places drain undrain join token haproxy'
const ALERTS_WORDS = 'notifications channels e-mail smtp ntfy slack discord telegram webhook'
const PEOPLE_WORDS = 'accounts users invite roles administrators editors viewers disable'
const SETTINGS_WORDS = 'public host name provider acme authority environment variables configuration'

/** Every page, and what is about none of the records. */
export function useCommands({ addNode, addDomain, addEdge, shortcuts }: Doors): Entry[] {
  const navigate = useNavigate()
  const [, setScheme] = useScheme()
  const signOut = useSignOut()
  const can = useRules()
  const page = (text: string, icon: Entry['icon'], to: string, words = '') => {
    return { id: to, group: 'Pages', icon, text, words, run: () => navigate(to) }
  }
  const theme = (scheme: 'auto' | 'light' | 'dark', icon: Entry['icon'], text: string) => {
    return { id: scheme, group: 'Theme', icon, text, words: 'colour scheme', run: () => setScheme(scheme) }
  }
  const help = { id: 'docs', icon: BookOpen, text: 'Documentation', words: 'docs manual' }
  const keys = { id: 'keys', icon: Keyboard, text: 'Keyboard shortcuts', words: 'keys' }
  return [
    page('Home', House, urls.home()),
    page('Client / Nodes', Workflow, urls.nodes(), 'gateways tokens'),
    page('Domain Names', Globe, urls.domains(), 'domains certificates'),
    page('Services', Blocks, urls.services(), 'http tcp udp backends all'),
    ...(can.edges ? [page('Edges', Server, urls.edges(), EDGES_WORDS)] : []),
    ...(can.alerts
      ? [
          page('Alerts', Bell, urls.alerts(), ALERTS_WORDS),
          page('Alert Rules', Bell, urls.alertRules(), 'quiet hours'),
        ]
      : []),
    page('History', FileClock, urls.history(), 'changes audit undo who'),
    page('Requests', History, urls.requests(), 'logs traffic visitors'),
    page('Account', UserRound, urls.account(), 'own name password sessions second factors'),
    ...(can.people ? [page('People', Users, urls.people(), PEOPLE_WORDS)] : []),
    ...(can.settings ? [page('Settings', Settings, urls.settings(), SETTINGS_WORDS)] : []),
    page(
      'Needs Attention',
      CircleAlert,
      urls.attention(),
      'problems failed not answering offline lost expiring',
    ),
    page('Why?', Waypoints, urls.why(), 'trace troubleshoot diagnose not reachable'),
    page('Failed Services', Blocks, urls.services({ state: 'failed' }), 'all problems errors'),
    page('Services That Do Not Answer', Blocks, urls.services({ state: 'unanswered' }), 'all problems down'),
    page('Disabled Services', Blocks, urls.services({ state: 'disabled' }), 'all off'),
    { ...help, group: 'Pages', run: () => window.open(serverUrls.docs(), '_blank', 'noopener') },
    ...(can.node.add ? [{ ...NEW_NODE, run: addNode }] : []),
    ...(can.domain.add ? [{ ...NEW_DOMAIN, run: addDomain }] : []),
    ...(can.may(edges.addEdge) ? [{ ...NEW_EDGE, run: addEdge }] : []),
    theme('light', Sun, 'Light'),
    theme('dark', Moon, 'Dark'),
    theme('auto', Monitor, 'Follow the system'),
    { ...keys, group: 'Session', run: shortcuts },
    {
      id: 'sign-out',
      group: 'Session',
      icon: LogOut,
      text: 'Sign out',
      words: 'log',
      run: () => signOut.mutate(),
    },
  ]
}
