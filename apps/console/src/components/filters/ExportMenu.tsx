import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { Download, FileJson, FileSpreadsheet } from 'lucide-react'
import { useApi } from '../../api/context.ts'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { openAddress } from '../../util/browser.ts'

interface Props {
  /** Like `Export these requests`. */
  label: string
  /** Takes the filters and a `format`. */
  endpoint: Endpoint
  query: Readonly<Record<string, string | undefined>>
}

/** Saves what a list shows as a file. */
export function ExportMenu({ label, endpoint, query }: Props) {
  const api = useApi()
  const save = async (format: 'jsonl' | 'csv') =>
    openAddress(await api.streamUrl(endpoint, { ...query, format }, false))
  return (
    <Menu
      label={label}
      text="Export"
      icon={Download}
      groups={[
        [
          { text: 'JSON lines', icon: FileJson, onSelect: () => void save('jsonl') },
          { text: 'CSV', icon: FileSpreadsheet, onSelect: () => void save('csv') },
        ],
      ]}
    />
  )
}
