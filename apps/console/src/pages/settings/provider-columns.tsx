import { consoleSignIn as endpoints } from '@postern/contract/endpoints/console-sign-in'
import type { ConsoleProvider } from '@postern/contract/sign-in/console-providers'
import type { QueryClient } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import type { Api } from '../../api/client.ts'
import { reload } from '../../api/queries.ts'
import { ask } from '../../components/ask.ts'
import type { Column } from '../../ui/data/Table.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'

const COLUMNS: readonly Column<ConsoleProvider>[] = [
  {
    head: 'Provider',
    className: 'c-name',
    render: ({ name, issuer }) => (
      <>
        <b dir="auto">{name}</b> <span className="sub mono">{issuer}</span>
      </>
    ),
  },
  {
    head: 'Accounts',
    width: 'w-38',
    label: 'Accounts',
    render: ({ makesAccounts, rules }) => (
      <>
        {makesAccounts ? 'Made on first sign-in' : 'Invited people only'}{' '}
        {rules.length > 0 && <span className="sub">{countText(rules.length)}</span>}
      </>
    ),
  },
  {
    head: 'People',
    width: 'w-12',
    label: 'People',
    render: ({ people }) => <span className="tn">{people}</span>,
  },
]

const countText = (rules: number) => (rules === 1 ? '1 rule' : `${rules} rules`)

/** The providers of the console's sign-in, with what can be done to each. */
export function providerColumns(
  api: Api,
  queries: QueryClient,
  onEdit: (provider: ConsoleProvider) => void,
): readonly Column<ConsoleProvider>[] {
  return [
    ...COLUMNS,
    {
      head: 'Actions',
      hiddenHead: true,
      width: 'w-act',
      className: 'c-act',
      render: (provider) => (
        <Menu
          label={`Actions for provider ${provider.name}`}
          groups={[
            [{ text: 'Edit', icon: Pencil, onSelect: () => onEdit(provider) }],
            [
              {
                ...{ text: 'Delete', icon: Trash2, danger: true },
                onSelect: () => void remove(api, queries, provider),
              },
            ],
          ]}
        />
      ),
    },
  ]
}

function remove(api: Api, queries: QueryClient, { id, name, people }: ConsoleProvider) {
  return ask({
    question: {
      title: 'Delete Provider',
      description: (
        <>
          Nobody signs in by <b dir="auto">{name}</b> any more. {consequence(people)}
        </>
      ),
      variant: 'danger',
      icon: Trash2,
      acceptButtonText: 'Yes, delete it!',
    },
    act: () => api.call(endpoints.deleteConsoleProvider, { params: { id } }),
    done: 'Provider deleted successfully!',
    subject: name,
    refresh: () => reload(queries, { queryKey: [endpoints.getConsoleSignIn.path] }),
  })
}

function consequence(people: number): string {
  if (people === 0) return 'No account is connected with it.'
  const accounts = people === 1 ? 'One account is' : `${people} accounts are`
  return `${accounts} connected with it: the sessions that it began end, people without a password or a passkey need a new link from you, and their API tokens end, as do those of people whose account it made.`
}
