import { Menu } from '@base-ui/react/menu';
import { Check, Columns3 } from 'lucide-react';
import type { Execution } from '../../api-types.ts';
import type { Column } from '../../components/data-table.tsx';
import { DEFAULT_COLUMNS } from './columns.tsx';

/** Selects the columns of the list, in a fixed order. */
export function ColumnsMenu({
  offered,
  chosen,
  onChange,
}: {
  offered: readonly Column<Execution>[];
  chosen: readonly string[];
  onChange: (keys: string[]) => void;
}) {
  const toggle = (key: string, isOn: boolean) =>
    onChange(offered.map((each) => each.key).filter((each) => (each === key ? isOn : chosen.includes(each))));
  return (
    <Menu.Root>
      <Menu.Trigger className="button">
        <Columns3 size={16} aria-hidden />
        Columns
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="menu-positioner" sideOffset={4} align="end">
          <Menu.Popup className="menu columns-menu">
            {offered.map(({ key, header }) => (
              <Menu.CheckboxItem
                key={key}
                className="menu-item"
                checked={chosen.includes(key)}
                onCheckedChange={(isOn) => toggle(key, isOn)}
              >
                <Menu.CheckboxItemIndicator className="menu-mark">
                  <Check className="icon" aria-hidden />
                </Menu.CheckboxItemIndicator>
                {key.startsWith('metadata:') ? `${header} (metadata)` : header}
              </Menu.CheckboxItem>
            ))}
            <Menu.Separator className="menu-separator" />
            <Menu.Item className="menu-item" onClick={() => onChange(DEFAULT_COLUMNS)}>
              Default columns
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
