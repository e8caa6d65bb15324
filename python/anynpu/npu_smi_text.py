# SPDX-License-Identifier: Apache-2.0
"""The texts of npu-smi: the table of `info` and the lists of `info -l`, `-m` and `-t`."""

MIB = 1 << 20
WIDTHS = (31, 17, 54)  # of the three cells of a table row, blanks included


def chip_name(facts):
    """The chip without the vendor's first word: Ascend310P3 -> 310P3."""
    name = facts.soc_name
    return name[len("Ascend"):] if name.startswith("Ascend") else name


def used_mib(device):
    return (device.total_bytes - device.free_bytes) // MIB


def used_percent(device):
    if device.total_bytes == 0:
        return 0
    return round(100 * (device.total_bytes - device.free_bytes) / device.total_bytes)


def shown(value, form="{:.0f}"):
    """A number that may not be known."""
    return "NA" if value is None else form.format(value)


def _rule(fill, cells=True):
    return "+" + ("+" if cells else fill).join(fill * width for width in WIDTHS) + "+"


def _row(*cells):
    return "|" + "|".join(f" {cell}".ljust(width) for cell, width in zip(cells, WIDTHS)) + "|"


def _wide(content):
    return "| " + content.ljust(sum(WIDTHS) + 1) + "|"


def table(facts):
    lines = [_rule("-", cells=False),
             _wide(f"npu-smi {facts.version}".ljust(49) + f"Version: {facts.version}"),
             _rule("-"),
             _row("NPU     Name", "Health",
                  "Power(W)     Temp(C)           Hugepages-Usage(page)"),
             _row("Chip    Device", "Bus-Id", "AICore(%)    Memory-Usage(MB)"),
             _rule("=")]
    for number, device in enumerate(facts.devices):
        if number:
            lines.append(_rule("="))
        memory = f"{used_mib(device):<5}/ {device.total_bytes // MIB}"
        lines += [_row(f"{device.device_id:<8}{chip_name(facts)}", "OK",
                       shown(device.power, "{:.1f}").ljust(13)
                       + shown(device.temperature).ljust(18) + "0    / 0"),
                  _row(f"{0:<8}{device.device_id}", shown(device.bus, "{}"),
                       str(device.busy_percent).ljust(13) + memory)]
    lines += [_rule("="), _rule("-"),
              _row("NPU     Chip", "Process id",
                   "Process name             | Process memory(MB)"),
              _rule("=")]
    for number, device in enumerate(facts.devices):
        if number:
            lines.append(_rule("="))
        lines += [_row(f"{device.device_id:<8}0", use.process,
                       f"{use.name[:24]:<25}| {use.used_bytes // MIB}")
                  for use in device.processes] or \
            [_wide(f"No running processes found in NPU {device.device_id}")]
    lines.append(_rule("="))
    return "\n".join(lines)


def _fields(*pairs):
    return "\n".join(f"\t{name:<30} : {value}" for name, value in pairs)


def device_list(facts):
    parts = [_fields(("Total Count", len(facts.devices)))]
    parts += [_fields(("NPU ID", device.device_id), ("Product Name", device.product),
                      ("Serial Number", "NA"), ("Chip Count", 1)) for device in facts.devices]
    return "\n\n".join(parts)


def chip_map(facts):
    rows = [("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")]
    rows += [(str(d.device_id), "0", str(d.device_id), f"Ascend {chip_name(facts)}")
             for d in facts.devices]
    return "\n".join("\t" + "".join(f"{cell:<31}" for cell in row).rstrip() for row in rows)


def board(facts, device):
    unknown = ("Model", "Manufacturer", "Serial Number")
    no_pcie = ("Slot ID", "Class ID",
               "PCI Vendor ID", "PCI Device ID", "Subsystem Vendor ID", "Subsystem Device ID")
    return _fields(("NPU ID", device.device_id), ("Product Name", device.product),
                   *((name, "NA") for name in unknown),
                   ("Software Version", facts.version), ("Firmware Version", "NA"),
                   ("Compatibility", "OK"),
                   *((name, "NA") for name in ("Board ID", "PCB ID", "BOM ID")),
                   ("PCIe Bus Info", shown(device.bus, "{}")), *((name, "NA") for name in no_pcie),
                   ("Chip Count", 1))


def usages(facts, device):
    return _fields(("NPU ID", device.device_id), ("Chip Count", 1)) + "\n\n" + _fields(
        ("DDR Capacity(MB)", device.total_bytes // MIB),
        ("DDR Usage Rate(%)", used_percent(device)),
        ("DDR Hugepages Total(page)", 0), ("DDR Hugepages Usage Rate(%)", 0),
        ("Aicore Usage Rate(%)", device.busy_percent), ("Aicpu Usage Rate(%)", "NA"),
        ("Ctrlcpu Usage Rate(%)", "NA"), ("DDR Bandwidth Usage Rate(%)", "NA"), ("Chip ID", 0))


def memory(facts, device):
    return _fields(("NPU ID", device.device_id), ("Chip Count", 1)) + "\n\n" + _fields(
        ("DDR Capacity(MB)", device.total_bytes // MIB), ("DDR Clock Speed(MHz)", "NA"),
        ("Chip ID", 0))


def common(facts, device):
    return _fields(("NPU ID", device.device_id), ("Chip Count", 1)) + "\n\n" + _fields(
        ("Chip ID", 0), ("Memory Usage Rate(%)", used_percent(device)),
        ("HugePages Usage Rate(%)", 0), ("Aicore Usage Rate(%)", device.busy_percent),
        ("Aicore Freq(MHZ)", "NA"), ("Temperature(C)", shown(device.temperature)),
        ("NPU Real-time Power(W)", shown(device.power, "{:.1f}")))


def health(facts, device):
    return _fields(("Health Status", "OK"), ("Error Code", "NA"), ("Error Information", "NA"))


def temperature(facts, device):
    return _fields(("NPU ID", device.device_id), ("Chip Count", 1)) + "\n\n" + _fields(
        ("NPU Temperature (C)", shown(device.temperature)), ("Chip ID", 0))


def power(facts, device):
    return _fields(("NPU ID", device.device_id), ("Chip Count", 1)) + "\n\n" + _fields(
        ("Power Dissipation(W)", shown(device.power, "{:.1f}")), ("Chip ID", 0))


def product(facts, device):
    return _fields(("NPU ID", device.device_id), ("Chip ID", 0),
                   ("Product Type", device.product), ("Chip Name", facts.soc_name))


def proc_mem(facts, device):
    head = _fields(("NPU ID", device.device_id), ("Chip ID", 0))
    if not device.processes:
        return head + f"\n\tNo running processes found in NPU {device.device_id}"
    return head + "".join(
        f"\n\tProcess id:{use.process} Process name:{use.name} "
        f"Process memory(MB):{use.used_bytes // MIB}" for use in device.processes)


# What `info -t` knows; those in WITHOUT_ID show every device when no -i is given.
TYPES = {"board": board, "common": common, "health": health, "memory": memory, "power": power,
         "proc-mem": proc_mem, "product": product, "temp": temperature, "usages": usages}
WITHOUT_ID = ("common", "memory", "usages", "power", "temp")
